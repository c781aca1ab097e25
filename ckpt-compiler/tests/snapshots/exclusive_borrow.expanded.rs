//! An exclusive borrow ends at the site and is taken again after it.
#[allow(
    clippy::collection_is_never_read,
    clippy::if_same_then_else,
    clippy::option_if_let_else,
    clippy::useless_let_if_seq,
    clippy::while_let_loop,
)]
/// Exchanges two halves.
pub fn exchange(cells: &mut [f64]) {
    static __CKPT_PLAN: ::ckpt::__rt::FunctionPlan = ::ckpt::__rt::FunctionPlan {
        function: "exchange",
        module: ::core::module_path!(),
        file: ::core::file!(),
        line: 5u32,
        layout: 3685373525145609851u64,
        source: 10477918818267170890u64,
        attribute: "ckpt::instrument",
        sites: &[
            ::ckpt::__rt::SitePlan {
                line: 9u32,
                column: 15u32,
                kind: ::ckpt::__rt::SiteKind::Checkpoint,
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "cells",
                        line: 5u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "half",
                        line: 6u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.iterator1",
                        line: 8u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "index",
                        line: 8u32,
                        on_demand: false,
                    },
                ],
            },
        ],
    };
    let mut __ckpt = ::ckpt::__rt::Frame::enter(&__CKPT_PLAN);
    #[cfg(not(debug_assertions))] #[allow(unreachable_code)]
    if __ckpt.begins() {
        let mut __ckpt = __ckpt.begun();
        return {
            let half;
            if __ckpt.runs() {
                half = cells.len() / 2;
            } else {
                half = __ckpt.restore("half");
            }
            let (left, right) = cells.split_at_mut(half);
            #[allow(unused_mut, unused_assignments)]
            let (mut left, mut right) = (left, right);
            {
                #[allow(unused_mut, unused_assignments)]
                let mut __ckpt_iterator1;
                if __ckpt.runs() {
                    __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(0..half);
                } else {
                    __ckpt_iterator1 = __ckpt.restore("ckpt.iterator1");
                }
                loop {
                    let index;
                    if __ckpt.runs() {
                        index = match ::core::iter::Iterator::next(
                            &mut __ckpt_iterator1,
                        ) {
                            ::core::option::Option::Some(__ckpt_item) => __ckpt_item,
                            ::core::option::Option::None => break,
                        };
                    } else {
                        index = __ckpt.restore("index");
                    }
                    if __ckpt.due(1u32) {
                        let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&half);
                        let __ckpt_seen_4 = ::ckpt::__rt::peek::<
                            _,
                            8usize,
                        >(&__ckpt_iterator1);
                        let __ckpt_seen_6 = ::ckpt::__rt::peek::<_, 8usize>(&index);
                        __ckpt
                            .checkpoint(
                                1u32,
                                &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                    use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                    (&::ckpt::__rt::Probe(&*cells))
                                        .offer(__ckpt_registrar, 0u32, "cells");
                                    __ckpt_registrar.save_seen("half", &__ckpt_seen_1);
                                    __ckpt_registrar
                                        .save_seen("ckpt.iterator1", &__ckpt_seen_4);
                                    __ckpt_registrar.save_seen("index", &__ckpt_seen_6);
                                },
                            );
                        #[allow(unused_variables)]
                        {
                            (left, right) = match cells.split_at_mut(half) {
                                (left, right) => (left, right),
                            };
                        }
                    }
                    std::mem::swap(&mut left[index], &mut right[index]);
                }
            }
        };
    }
    let half;
    if __ckpt.runs() {
        half = cells.len() / 2;
    } else {
        half = __ckpt.restore("half");
    }
    let (left, right) = cells.split_at_mut(half);
    #[allow(unused_mut, unused_assignments)]
    let (mut left, mut right) = (left, right);
    {
        #[allow(unused_mut, unused_assignments)]
        let mut __ckpt_iterator1;
        if __ckpt.runs() {
            __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(0..half);
        } else {
            __ckpt_iterator1 = __ckpt.restore("ckpt.iterator1");
        }
        loop {
            let index;
            if __ckpt.runs() {
                index = match ::core::iter::Iterator::next(&mut __ckpt_iterator1) {
                    ::core::option::Option::Some(__ckpt_item) => __ckpt_item,
                    ::core::option::Option::None => break,
                };
            } else {
                index = __ckpt.restore("index");
            }
            if __ckpt.due(1u32) {
                let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&half);
                let __ckpt_seen_4 = ::ckpt::__rt::peek::<_, 8usize>(&__ckpt_iterator1);
                let __ckpt_seen_6 = ::ckpt::__rt::peek::<_, 8usize>(&index);
                __ckpt
                    .checkpoint(
                        1u32,
                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                            use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                            (&::ckpt::__rt::Probe(&*cells))
                                .offer(__ckpt_registrar, 0u32, "cells");
                            __ckpt_registrar.save_seen("half", &__ckpt_seen_1);
                            __ckpt_registrar.save_seen("ckpt.iterator1", &__ckpt_seen_4);
                            __ckpt_registrar.save_seen("index", &__ckpt_seen_6);
                        },
                    );
                #[allow(unused_variables)]
                {
                    (left, right) = match cells.split_at_mut(half) {
                        (left, right) => (left, right),
                    };
                }
            }
            std::mem::swap(&mut left[index], &mut right[index]);
        }
    }
}
