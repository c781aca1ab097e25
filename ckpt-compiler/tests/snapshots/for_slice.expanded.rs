//! The iterator of a slice is made again, and advanced to where it was.
#[allow(
    clippy::collection_is_never_read,
    clippy::if_same_then_else,
    clippy::option_if_let_else,
    clippy::useless_let_if_seq,
    clippy::while_let_loop,
)]
/// The largest difference between neighbours.
pub fn roughness(heights: &[f64]) -> f64 {
    static __CKPT_PLAN: ::ckpt::__rt::FunctionPlan = ::ckpt::__rt::FunctionPlan {
        function: "roughness",
        module: ::core::module_path!(),
        file: ::core::file!(),
        line: 5u32,
        layout: 15433147108886533702u64,
        source: 1741992016183697946u64,
        attribute: "ckpt::instrument",
        sites: &[
            ::ckpt::__rt::SitePlan {
                line: 8u32,
                column: 15u32,
                kind: ::ckpt::__rt::SiteKind::Checkpoint,
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "heights",
                        line: 5u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "worst",
                        line: 6u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.count2",
                        line: 1u32,
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
            let mut worst: f64;
            if __ckpt.runs() {
                worst = 0.0;
            } else {
                worst = __ckpt.restore("worst");
            }
            {
                let mut __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(
                    heights.windows(2).enumerate(),
                );
                {
                    #[allow(unused_imports)]
                    use ::ckpt::__rt::{InOrder as _, OutOfOrder as _};
                    (&::ckpt::__rt::Order(&__ckpt_iterator1)).check();
                }
                #[allow(unused_mut, unused_assignments)]
                let mut __ckpt_count2: u64;
                if __ckpt.runs() {
                    __ckpt_count2 = 0;
                } else {
                    __ckpt_count2 = __ckpt.restore("ckpt.count2");
                }
                loop {
                    let (index, pair) = match ::ckpt::__rt::fetch(
                        &__ckpt,
                        &mut __ckpt_iterator1,
                        &mut __ckpt_count2,
                    ) {
                        ::core::option::Option::Some(__ckpt_item) => __ckpt_item,
                        ::core::option::Option::None => break,
                    };
                    if __ckpt.due(1u32) {
                        let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&worst);
                        let __ckpt_seen_3 = ::ckpt::__rt::peek::<
                            _,
                            8usize,
                        >(&__ckpt_count2);
                        __ckpt
                            .checkpoint(
                                1u32,
                                &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                    use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                    (&::ckpt::__rt::Probe(&*heights))
                                        .offer(__ckpt_registrar, 0u32, "heights");
                                    __ckpt_registrar.save_seen("worst", &__ckpt_seen_1);
                                    __ckpt_registrar.save_seen("ckpt.count2", &__ckpt_seen_3);
                                },
                            );
                    }
                    let step = (pair[1] - pair[0]).abs();
                    if step > worst {
                        println!("{index}");
                        worst = step;
                    }
                }
            }
            worst
        };
    }
    let mut worst: f64;
    if __ckpt.runs() {
        worst = 0.0;
    } else {
        worst = __ckpt.restore("worst");
    }
    {
        let mut __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(
            heights.windows(2).enumerate(),
        );
        {
            #[allow(unused_imports)]
            use ::ckpt::__rt::{InOrder as _, OutOfOrder as _};
            (&::ckpt::__rt::Order(&__ckpt_iterator1)).check();
        }
        #[allow(unused_mut, unused_assignments)]
        let mut __ckpt_count2: u64;
        if __ckpt.runs() {
            __ckpt_count2 = 0;
        } else {
            __ckpt_count2 = __ckpt.restore("ckpt.count2");
        }
        loop {
            let (index, pair) = match ::ckpt::__rt::fetch(
                &__ckpt,
                &mut __ckpt_iterator1,
                &mut __ckpt_count2,
            ) {
                ::core::option::Option::Some(__ckpt_item) => __ckpt_item,
                ::core::option::Option::None => break,
            };
            if __ckpt.due(1u32) {
                let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&worst);
                let __ckpt_seen_3 = ::ckpt::__rt::peek::<_, 8usize>(&__ckpt_count2);
                __ckpt
                    .checkpoint(
                        1u32,
                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                            use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                            (&::ckpt::__rt::Probe(&*heights))
                                .offer(__ckpt_registrar, 0u32, "heights");
                            __ckpt_registrar.save_seen("worst", &__ckpt_seen_1);
                            __ckpt_registrar.save_seen("ckpt.count2", &__ckpt_seen_3);
                        },
                    );
            }
            let step = (pair[1] - pair[0]).abs();
            if step > worst {
                println!("{index}");
                worst = step;
            }
        }
    }
    worst
}
