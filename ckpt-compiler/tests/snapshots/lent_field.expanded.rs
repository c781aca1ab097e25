//! Of a variable of which a field is lent, the rest is saved here and the field in the callee.
/// A model.
#[derive(ckpt::Checkpoint)]
pub struct Model {
    field: Vec<f64>,
    name: String,
}
#[allow(
    clippy::collection_is_never_read,
    clippy::if_same_then_else,
    clippy::option_if_let_else,
    clippy::useless_let_if_seq,
    clippy::while_let_loop,
)]
fn relax(field: &mut Vec<f64>) {
    static __CKPT_PLAN: ::ckpt::__rt::FunctionPlan = ::ckpt::__rt::FunctionPlan {
        function: "relax",
        module: ::core::module_path!(),
        file: ::core::file!(),
        line: 11u32,
        layout: 6408723179386031493u64,
        source: 3666077949477882217u64,
        attribute: "ckpt::instrument",
        sites: &[
            ::ckpt::__rt::SitePlan {
                line: 13u32,
                column: 15u32,
                kind: ::ckpt::__rt::SiteKind::Checkpoint,
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "field",
                        line: 11u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.iterator1",
                        line: 12u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "index",
                        line: 12u32,
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
            {
                #[allow(unused_mut, unused_assignments)]
                let mut __ckpt_iterator1;
                if __ckpt.runs() {
                    __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(
                        1..field.len(),
                    );
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
                        let __ckpt_seen_1 = ::ckpt::__rt::peek::<
                            _,
                            8usize,
                        >(&__ckpt_iterator1);
                        let __ckpt_seen_3 = ::ckpt::__rt::peek::<_, 8usize>(&index);
                        __ckpt
                            .checkpoint(
                                1u32,
                                &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                    use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                    (&::ckpt::__rt::Probe(&*field))
                                        .offer(__ckpt_registrar, 0u32, "field");
                                    __ckpt_registrar
                                        .save_seen("ckpt.iterator1", &__ckpt_seen_1);
                                    __ckpt_registrar.save_seen("index", &__ckpt_seen_3);
                                },
                            );
                    }
                    field[index] = 0.5 * (field[index] + field[index - 1]);
                }
            }
        };
    }
    {
        #[allow(unused_mut, unused_assignments)]
        let mut __ckpt_iterator1;
        if __ckpt.runs() {
            __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(1..field.len());
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
                let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&__ckpt_iterator1);
                let __ckpt_seen_3 = ::ckpt::__rt::peek::<_, 8usize>(&index);
                __ckpt
                    .checkpoint(
                        1u32,
                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                            use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                            (&::ckpt::__rt::Probe(&*field))
                                .offer(__ckpt_registrar, 0u32, "field");
                            __ckpt_registrar.save_seen("ckpt.iterator1", &__ckpt_seen_1);
                            __ckpt_registrar.save_seen("index", &__ckpt_seen_3);
                        },
                    );
            }
            field[index] = 0.5 * (field[index] + field[index - 1]);
        }
    }
}
#[allow(
    clippy::collection_is_never_read,
    clippy::if_same_then_else,
    clippy::option_if_let_else,
    clippy::useless_let_if_seq,
    clippy::while_let_loop,
)]
/// Relaxes it.
pub fn solve(n: usize) -> String {
    static __CKPT_PLAN: ::ckpt::__rt::FunctionPlan = ::ckpt::__rt::FunctionPlan {
        function: "solve",
        module: ::core::module_path!(),
        file: ::core::file!(),
        line: 20u32,
        layout: 10812736454437455781u64,
        source: 16690915789746311845u64,
        attribute: "ckpt::instrument",
        sites: &[
            ::ckpt::__rt::SitePlan {
                line: 25u32,
                column: 5u32,
                kind: ::ckpt::__rt::SiteKind::Call {
                    callee: "relax",
                },
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "n",
                        line: 20u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "model",
                        line: 21u32,
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
            let mut model;
            if __ckpt.runs() {
                model = Model {
                    field: vec![1.0; n],
                    name: "relaxed".to_owned(),
                };
            } else {
                model = __ckpt.restore("model");
            }
            {
                #[allow(unused_mut)]
                let mut __ckpt_parts_1_0_1 = ::ckpt::__rt::split(&mut model);
                let __ckpt_part_1_0_2 = ::ckpt::__rt::part(
                    &mut __ckpt_parts_1_0_1.field,
                );
                let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 4usize>(&n);
                __ckpt
                    .call(
                        1u32,
                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                            use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                            (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                                .offer(__ckpt_registrar, 0u32, "n");
                            __ckpt_registrar
                                .save_split(
                                    "model",
                                    &|__ckpt_splitter: &mut ::ckpt::__rt::Splitter<'_>| {
                                        __ckpt_splitter
                                            .fields(
                                                &__ckpt_parts_1_0_1,
                                                &[
                                                    (
                                                        "field",
                                                        &|__ckpt_splitter: &mut ::ckpt::__rt::Splitter<'_>| {
                                                            __ckpt_splitter.hole(0u32)
                                                        },
                                                    ),
                                                ],
                                            )
                                    },
                                );
                        },
                        || relax(&mut *__ckpt_part_1_0_2),
                    )
            };
            format!("{} {}", model.name, model.field.len())
        };
    }
    let mut model;
    if __ckpt.runs() {
        model = Model {
            field: vec![1.0; n],
            name: "relaxed".to_owned(),
        };
    } else {
        model = __ckpt.restore("model");
    }
    {
        #[allow(unused_mut)]
        let mut __ckpt_parts_1_0_1 = ::ckpt::__rt::split(&mut model);
        let __ckpt_part_1_0_2 = ::ckpt::__rt::part(&mut __ckpt_parts_1_0_1.field);
        let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 4usize>(&n);
        __ckpt
            .call(
                1u32,
                &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                    use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                    (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                        .offer(__ckpt_registrar, 0u32, "n");
                    __ckpt_registrar
                        .save_split(
                            "model",
                            &|__ckpt_splitter: &mut ::ckpt::__rt::Splitter<'_>| {
                                __ckpt_splitter
                                    .fields(
                                        &__ckpt_parts_1_0_1,
                                        &[
                                            (
                                                "field",
                                                &|__ckpt_splitter: &mut ::ckpt::__rt::Splitter<'_>| {
                                                    __ckpt_splitter.hole(0u32)
                                                },
                                            ),
                                        ],
                                    )
                            },
                        );
                },
                || relax(&mut *__ckpt_part_1_0_2),
            )
    };
    format!("{} {}", model.name, model.field.len())
}
