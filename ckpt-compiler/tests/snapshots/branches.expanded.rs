//! Conditions become variables, so that a restart can pass over them.
#[allow(
    clippy::collection_is_never_read,
    clippy::if_same_then_else,
    clippy::option_if_let_else,
    clippy::useless_let_if_seq,
    clippy::while_let_loop,
)]
/// Walks one way or the other.
pub fn walk(steps: u32, left: bool) -> i64 {
    static __CKPT_PLAN: ::ckpt::__rt::FunctionPlan = ::ckpt::__rt::FunctionPlan {
        function: "walk",
        module: ::core::module_path!(),
        file: ::core::file!(),
        line: 5u32,
        layout: 15657744660900833977u64,
        source: 3840235156232140639u64,
        attribute: "ckpt::instrument",
        sites: &[
            ::ckpt::__rt::SitePlan {
                line: 10u32,
                column: 19u32,
                kind: ::ckpt::__rt::SiteKind::Checkpoint,
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "steps",
                        line: 5u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "left",
                        line: 5u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "at",
                        line: 6u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.iterator1",
                        line: 7u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "step",
                        line: 7u32,
                        on_demand: false,
                    },
                ],
            },
            ::ckpt::__rt::SitePlan {
                line: 14u32,
                column: 19u32,
                kind: ::ckpt::__rt::SiteKind::Checkpoint,
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "steps",
                        line: 5u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "left",
                        line: 5u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "at",
                        line: 6u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.iterator1",
                        line: 7u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "step",
                        line: 7u32,
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
            let left = if !__ckpt.runs() && (true) && !__ckpt.passed("left") {
                __ckpt.restore("left")
            } else {
                left
            };
            let mut at;
            if __ckpt.runs() {
                at = 0i64;
            } else {
                at = __ckpt.restore("at");
            }
            {
                #[allow(unused_mut, unused_assignments)]
                let mut __ckpt_iterator1;
                if __ckpt.runs() {
                    __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(0..steps);
                } else {
                    __ckpt_iterator1 = __ckpt.restore("ckpt.iterator1");
                }
                loop {
                    let step;
                    #[allow(unused_mut, unused_assignments)]
                    let __ckpt_condition2;
                    if __ckpt.runs() {
                        step = match ::core::iter::Iterator::next(
                            &mut __ckpt_iterator1,
                        ) {
                            ::core::option::Option::Some(__ckpt_item) => __ckpt_item,
                            ::core::option::Option::None => break,
                        };
                        __ckpt_condition2 = left && step % 3 == 0;
                    } else {
                        step = __ckpt.restore("step");
                        __ckpt_condition2 = __ckpt.enters(1u32, 1u32);
                    }
                    if __ckpt_condition2 {
                        if __ckpt.runs() {
                            at -= 1;
                        }
                        if __ckpt.due(1u32) {
                            let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 8usize>(&steps);
                            let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&left);
                            let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 8usize>(&at);
                            let __ckpt_seen_3 = ::ckpt::__rt::peek::<
                                _,
                                8usize,
                            >(&__ckpt_iterator1);
                            let __ckpt_seen_5 = ::ckpt::__rt::peek::<_, 8usize>(&step);
                            __ckpt
                                .checkpoint(
                                    1u32,
                                    &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                        use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                        (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                                            .offer(__ckpt_registrar, 0u32, "steps");
                                        __ckpt_registrar.required("left");
                                        __ckpt_registrar
                                            .parameter(1u32, "left", __ckpt_seen_1.value());
                                        __ckpt_registrar.save_seen("at", &__ckpt_seen_2);
                                        __ckpt_registrar
                                            .save_seen("ckpt.iterator1", &__ckpt_seen_3);
                                        __ckpt_registrar.save_seen("step", &__ckpt_seen_5);
                                    },
                                );
                        }
                    } else {
                        #[allow(unused_mut, unused_assignments)]
                        let __ckpt_condition3;
                        if __ckpt.runs() {
                            __ckpt_condition3 = at < 10;
                        } else {
                            __ckpt_condition3 = false;
                        }
                        if __ckpt_condition3 {
                            at += 2;
                        } else {
                            if __ckpt.due(2u32) {
                                let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 8usize>(&steps);
                                let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&left);
                                let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 8usize>(&at);
                                let __ckpt_seen_3 = ::ckpt::__rt::peek::<
                                    _,
                                    8usize,
                                >(&__ckpt_iterator1);
                                let __ckpt_seen_5 = ::ckpt::__rt::peek::<_, 8usize>(&step);
                                __ckpt
                                    .checkpoint(
                                        2u32,
                                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                            use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                            (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                                                .offer(__ckpt_registrar, 0u32, "steps");
                                            __ckpt_registrar.required("left");
                                            __ckpt_registrar
                                                .parameter(1u32, "left", __ckpt_seen_1.value());
                                            __ckpt_registrar.save_seen("at", &__ckpt_seen_2);
                                            __ckpt_registrar
                                                .save_seen("ckpt.iterator1", &__ckpt_seen_3);
                                            __ckpt_registrar.save_seen("step", &__ckpt_seen_5);
                                        },
                                    );
                            }
                            at += i64::from(step);
                        }
                    }
                }
            }
            at
        };
    }
    let left = if !__ckpt.runs() && (true) && !__ckpt.passed("left") {
        __ckpt.restore("left")
    } else {
        left
    };
    let mut at;
    if __ckpt.runs() {
        at = 0i64;
    } else {
        at = __ckpt.restore("at");
    }
    {
        #[allow(unused_mut, unused_assignments)]
        let mut __ckpt_iterator1;
        if __ckpt.runs() {
            __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(0..steps);
        } else {
            __ckpt_iterator1 = __ckpt.restore("ckpt.iterator1");
        }
        loop {
            let step;
            #[allow(unused_mut, unused_assignments)]
            let __ckpt_condition2;
            if __ckpt.runs() {
                step = match ::core::iter::Iterator::next(&mut __ckpt_iterator1) {
                    ::core::option::Option::Some(__ckpt_item) => __ckpt_item,
                    ::core::option::Option::None => break,
                };
                __ckpt_condition2 = left && step % 3 == 0;
            } else {
                step = __ckpt.restore("step");
                __ckpt_condition2 = __ckpt.enters(1u32, 1u32);
            }
            if __ckpt_condition2 {
                if __ckpt.runs() {
                    at -= 1;
                }
                if __ckpt.due(1u32) {
                    let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 8usize>(&steps);
                    let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&left);
                    let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 8usize>(&at);
                    let __ckpt_seen_3 = ::ckpt::__rt::peek::<
                        _,
                        8usize,
                    >(&__ckpt_iterator1);
                    let __ckpt_seen_5 = ::ckpt::__rt::peek::<_, 8usize>(&step);
                    __ckpt
                        .checkpoint(
                            1u32,
                            &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                                    .offer(__ckpt_registrar, 0u32, "steps");
                                __ckpt_registrar.required("left");
                                __ckpt_registrar
                                    .parameter(1u32, "left", __ckpt_seen_1.value());
                                __ckpt_registrar.save_seen("at", &__ckpt_seen_2);
                                __ckpt_registrar
                                    .save_seen("ckpt.iterator1", &__ckpt_seen_3);
                                __ckpt_registrar.save_seen("step", &__ckpt_seen_5);
                            },
                        );
                }
            } else {
                #[allow(unused_mut, unused_assignments)]
                let __ckpt_condition3;
                if __ckpt.runs() {
                    __ckpt_condition3 = at < 10;
                } else {
                    __ckpt_condition3 = false;
                }
                if __ckpt_condition3 {
                    at += 2;
                } else {
                    if __ckpt.due(2u32) {
                        let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 8usize>(&steps);
                        let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&left);
                        let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 8usize>(&at);
                        let __ckpt_seen_3 = ::ckpt::__rt::peek::<
                            _,
                            8usize,
                        >(&__ckpt_iterator1);
                        let __ckpt_seen_5 = ::ckpt::__rt::peek::<_, 8usize>(&step);
                        __ckpt
                            .checkpoint(
                                2u32,
                                &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                    use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                    (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                                        .offer(__ckpt_registrar, 0u32, "steps");
                                    __ckpt_registrar.required("left");
                                    __ckpt_registrar
                                        .parameter(1u32, "left", __ckpt_seen_1.value());
                                    __ckpt_registrar.save_seen("at", &__ckpt_seen_2);
                                    __ckpt_registrar
                                        .save_seen("ckpt.iterator1", &__ckpt_seen_3);
                                    __ckpt_registrar.save_seen("step", &__ckpt_seen_5);
                                },
                            );
                    }
                    at += i64::from(step);
                }
            }
        }
    }
    at
}
