//! Marked calls as arguments: everything that is evaluated before them is put aside.
#[allow(
    clippy::collection_is_never_read,
    clippy::if_same_then_else,
    clippy::option_if_let_else,
    clippy::useless_let_if_seq,
    clippy::while_let_loop,
)]
fn next(seed: u64) -> u64 {
    static __CKPT_PLAN: ::ckpt::__rt::FunctionPlan = ::ckpt::__rt::FunctionPlan {
        function: "next",
        module: ::core::module_path!(),
        file: ::core::file!(),
        line: 4u32,
        layout: 11585299135491796093u64,
        source: 12086528036810599431u64,
        attribute: "ckpt::instrument",
        sites: &[
            ::ckpt::__rt::SitePlan {
                line: 7u32,
                column: 15u32,
                kind: ::ckpt::__rt::SiteKind::Checkpoint,
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "seed",
                        line: 4u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "state",
                        line: 5u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.iterator1",
                        line: 6u32,
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
            let mut state;
            if __ckpt.runs() {
                state = seed;
            } else {
                state = __ckpt.restore("state");
            }
            {
                #[allow(unused_mut, unused_assignments)]
                let mut __ckpt_iterator1;
                if __ckpt.runs() {
                    __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(0..3);
                } else {
                    __ckpt_iterator1 = __ckpt.restore("ckpt.iterator1");
                }
                loop {
                    if __ckpt.runs() {
                        let _ = match ::core::iter::Iterator::next(
                            &mut __ckpt_iterator1,
                        ) {
                            ::core::option::Option::Some(__ckpt_item) => __ckpt_item,
                            ::core::option::Option::None => break,
                        };
                    }
                    if __ckpt.due(1u32) {
                        let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 8usize>(&seed);
                        let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&state);
                        let __ckpt_seen_2 = ::ckpt::__rt::peek::<
                            _,
                            8usize,
                        >(&__ckpt_iterator1);
                        __ckpt
                            .checkpoint(
                                1u32,
                                &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                    use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                    (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                                        .offer(__ckpt_registrar, 0u32, "seed");
                                    __ckpt_registrar.save_seen("state", &__ckpt_seen_1);
                                    __ckpt_registrar
                                        .save_seen("ckpt.iterator1", &__ckpt_seen_2);
                                },
                            );
                    }
                    state = state.wrapping_mul(5) + 1;
                }
            }
            state
        };
    }
    let mut state;
    if __ckpt.runs() {
        state = seed;
    } else {
        state = __ckpt.restore("state");
    }
    {
        #[allow(unused_mut, unused_assignments)]
        let mut __ckpt_iterator1;
        if __ckpt.runs() {
            __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(0..3);
        } else {
            __ckpt_iterator1 = __ckpt.restore("ckpt.iterator1");
        }
        loop {
            if __ckpt.runs() {
                let _ = match ::core::iter::Iterator::next(&mut __ckpt_iterator1) {
                    ::core::option::Option::Some(__ckpt_item) => __ckpt_item,
                    ::core::option::Option::None => break,
                };
            }
            if __ckpt.due(1u32) {
                let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 8usize>(&seed);
                let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&state);
                let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 8usize>(&__ckpt_iterator1);
                __ckpt
                    .checkpoint(
                        1u32,
                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                            use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                            (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                                .offer(__ckpt_registrar, 0u32, "seed");
                            __ckpt_registrar.save_seen("state", &__ckpt_seen_1);
                            __ckpt_registrar.save_seen("ckpt.iterator1", &__ckpt_seen_2);
                        },
                    );
            }
            state = state.wrapping_mul(5) + 1;
        }
    }
    state
}
fn join(a: String, b: u64, c: u64) -> String {
    format!("{a}{b}{c}")
}
#[allow(
    clippy::collection_is_never_read,
    clippy::if_same_then_else,
    clippy::option_if_let_else,
    clippy::useless_let_if_seq,
    clippy::while_let_loop,
)]
/// Calls inside a call.
pub fn nested(seed: u64) -> String {
    static __CKPT_PLAN: ::ckpt::__rt::FunctionPlan = ::ckpt::__rt::FunctionPlan {
        function: "nested",
        module: ::core::module_path!(),
        file: ::core::file!(),
        line: 19u32,
        layout: 7025721986488942019u64,
        source: 2881773478722496997u64,
        attribute: "ckpt::instrument",
        sites: &[
            ::ckpt::__rt::SitePlan {
                line: 20u32,
                column: 46u32,
                kind: ::ckpt::__rt::SiteKind::Call {
                    callee: "next",
                },
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "seed",
                        line: 19u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.operand1",
                        line: 20u32,
                        on_demand: false,
                    },
                ],
            },
            ::ckpt::__rt::SitePlan {
                line: 20u32,
                column: 41u32,
                kind: ::ckpt::__rt::SiteKind::Call {
                    callee: "next",
                },
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "seed",
                        line: 19u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.operand1",
                        line: 20u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.argument3",
                        line: 20u32,
                        on_demand: true,
                    },
                ],
            },
            ::ckpt::__rt::SitePlan {
                line: 21u32,
                column: 8u32,
                kind: ::ckpt::__rt::SiteKind::Call {
                    callee: "next",
                },
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "seed",
                        line: 19u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "joined",
                        line: 20u32,
                        on_demand: false,
                    },
                ],
            },
            ::ckpt::__rt::SitePlan {
                line: 22u32,
                column: 24u32,
                kind: ::ckpt::__rt::SiteKind::Call {
                    callee: "next",
                },
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "seed",
                        line: 19u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "joined",
                        line: 20u32,
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
            let seed = if !__ckpt.runs() && (__ckpt.enters(1u32, 1u32))
                && !__ckpt.passed("seed")
            {
                __ckpt.restore_moved("seed")
            } else {
                seed
            };
            let joined;
            if __ckpt.runs() || __ckpt.enters(1u32, 2u32) {
                joined = {
                    #[allow(unused_mut, unused_assignments)]
                    let mut __ckpt_operand1;
                    if __ckpt.runs() {
                        __ckpt_operand1 = seed.to_string();
                    } else {
                        __ckpt_operand1 = __ckpt.restore("ckpt.operand1");
                    }
                    #[allow(unused_mut)]
                    let mut __ckpt_operand2 = {
                        #[allow(unused_mut, unused_assignments)]
                        let mut __ckpt_argument3;
                        if __ckpt.runs() || __ckpt.enters(1u32, 1u32) {
                            __ckpt_argument3 = ({
                                if false {
                                    let _ = || next(::ckpt::__rt::like(&seed));
                                    ::core::unreachable!()
                                }
                                let __ckpt_kept_0 = {
                                    #[allow(unused_imports)]
                                    use ::ckpt::__rt::{
                                        KeepClone as _, KeepCopy as _, KeepNothing as _,
                                    };
                                    (&&::ckpt::__rt::Keep(&seed)).keep()
                                };
                                let __ckpt_seen_1 = ::ckpt::__rt::peek::<
                                    _,
                                    4usize,
                                >(&__ckpt_operand1);
                                __ckpt
                                    .call(
                                        1u32,
                                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                            match &__ckpt_kept_0 {
                                                ::core::option::Option::Some(__ckpt_copy) => {
                                                    __ckpt_registrar.required("seed");
                                                    __ckpt_registrar.parameter(0u32, "seed", __ckpt_copy);
                                                }
                                                ::core::option::Option::None => {
                                                    __ckpt_registrar.required("seed");
                                                    __ckpt_registrar
                                                        .moved_parameter(0u32, "seed", 0u32, &__ckpt_kept_0);
                                                }
                                            }
                                            __ckpt_registrar.mark_clean();
                                            __ckpt_registrar.save_seen("ckpt.operand1", &__ckpt_seen_1);
                                        },
                                        || next(seed),
                                    )
                            }) + 1;
                        } else {
                            __ckpt_argument3 = __ckpt.restore_moved("ckpt.argument3");
                        }
                        {
                            if false {
                                let _ = || next(::ckpt::__rt::like(&__ckpt_argument3));
                                ::core::unreachable!()
                            }
                            let __ckpt_kept_2 = {
                                #[allow(unused_imports)]
                                use ::ckpt::__rt::{
                                    KeepClone as _, KeepCopy as _, KeepNothing as _,
                                };
                                (&&::ckpt::__rt::Keep(&__ckpt_argument3)).keep()
                            };
                            let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 4usize>(&seed);
                            let __ckpt_seen_1 = ::ckpt::__rt::peek::<
                                _,
                                4usize,
                            >(&__ckpt_operand1);
                            __ckpt
                                .call(
                                    2u32,
                                    &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                        use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                        (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                                            .offer(__ckpt_registrar, 0u32, "seed");
                                        __ckpt_registrar.mark_clean();
                                        __ckpt_registrar.save_seen("ckpt.operand1", &__ckpt_seen_1);
                                        match &__ckpt_kept_2 {
                                            ::core::option::Option::Some(__ckpt_copy) => {
                                                __ckpt_registrar.save("ckpt.argument3", __ckpt_copy);
                                            }
                                            ::core::option::Option::None => {
                                                __ckpt_registrar
                                                    .moved("ckpt.argument3", 0u32, &__ckpt_kept_2);
                                            }
                                        }
                                    },
                                    || next(__ckpt_argument3),
                                )
                        }
                    };
                    join(__ckpt_operand1, __ckpt_operand2, 7)
                };
            } else {
                joined = __ckpt.restore("joined");
            }
            #[allow(unused_mut, unused_assignments)]
            let mut __ckpt_condition4;
            if __ckpt.runs() || __ckpt.enters(3u32, 3u32) {
                __ckpt_condition4 = ({
                    let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 4usize>(&seed);
                    let __ckpt_seen_4 = ::ckpt::__rt::peek::<_, 4usize>(&joined);
                    __ckpt
                        .call(
                            3u32,
                            &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                                    .offer(__ckpt_registrar, 0u32, "seed");
                                __ckpt_registrar.mark_clean();
                                __ckpt_registrar.save_seen("joined", &__ckpt_seen_4);
                            },
                            || next(3),
                        )
                }) > 10 && !joined.is_empty();
            } else {
                __ckpt_condition4 = __ckpt.enters(4u32, 4u32);
            }
            if __ckpt_condition4 {
                {
                    #[allow(unused_mut)]
                    let mut __ckpt_operand5 = {
                        let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 4usize>(&seed);
                        let __ckpt_seen_4 = ::ckpt::__rt::peek::<_, 4usize>(&joined);
                        __ckpt
                            .call(
                                4u32,
                                &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                    use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                    (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                                        .offer(__ckpt_registrar, 0u32, "seed");
                                    __ckpt_registrar.mark_clean();
                                    __ckpt_registrar.save_seen("joined", &__ckpt_seen_4);
                                },
                                || next(4),
                            )
                    };
                    println!("{}", __ckpt_operand5)
                };
            }
            joined
        };
    }
    let seed = if !__ckpt.runs() && (__ckpt.enters(1u32, 1u32)) && !__ckpt.passed("seed")
    {
        __ckpt.restore_moved("seed")
    } else {
        seed
    };
    let joined;
    if __ckpt.runs() || __ckpt.enters(1u32, 2u32) {
        joined = {
            #[allow(unused_mut, unused_assignments)]
            let mut __ckpt_operand1;
            if __ckpt.runs() {
                __ckpt_operand1 = seed.to_string();
            } else {
                __ckpt_operand1 = __ckpt.restore("ckpt.operand1");
            }
            #[allow(unused_mut)]
            let mut __ckpt_operand2 = {
                #[allow(unused_mut, unused_assignments)]
                let mut __ckpt_argument3;
                if __ckpt.runs() || __ckpt.enters(1u32, 1u32) {
                    __ckpt_argument3 = ({
                        if false {
                            let _ = || next(::ckpt::__rt::like(&seed));
                            ::core::unreachable!()
                        }
                        let __ckpt_kept_0 = {
                            #[allow(unused_imports)]
                            use ::ckpt::__rt::{
                                KeepClone as _, KeepCopy as _, KeepNothing as _,
                            };
                            (&&::ckpt::__rt::Keep(&seed)).keep()
                        };
                        let __ckpt_seen_1 = ::ckpt::__rt::peek::<
                            _,
                            4usize,
                        >(&__ckpt_operand1);
                        __ckpt
                            .call(
                                1u32,
                                &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                    match &__ckpt_kept_0 {
                                        ::core::option::Option::Some(__ckpt_copy) => {
                                            __ckpt_registrar.required("seed");
                                            __ckpt_registrar.parameter(0u32, "seed", __ckpt_copy);
                                        }
                                        ::core::option::Option::None => {
                                            __ckpt_registrar.required("seed");
                                            __ckpt_registrar
                                                .moved_parameter(0u32, "seed", 0u32, &__ckpt_kept_0);
                                        }
                                    }
                                    __ckpt_registrar.mark_clean();
                                    __ckpt_registrar.save_seen("ckpt.operand1", &__ckpt_seen_1);
                                },
                                || next(seed),
                            )
                    }) + 1;
                } else {
                    __ckpt_argument3 = __ckpt.restore_moved("ckpt.argument3");
                }
                {
                    if false {
                        let _ = || next(::ckpt::__rt::like(&__ckpt_argument3));
                        ::core::unreachable!()
                    }
                    let __ckpt_kept_2 = {
                        #[allow(unused_imports)]
                        use ::ckpt::__rt::{
                            KeepClone as _, KeepCopy as _, KeepNothing as _,
                        };
                        (&&::ckpt::__rt::Keep(&__ckpt_argument3)).keep()
                    };
                    let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 4usize>(&seed);
                    let __ckpt_seen_1 = ::ckpt::__rt::peek::<
                        _,
                        4usize,
                    >(&__ckpt_operand1);
                    __ckpt
                        .call(
                            2u32,
                            &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                                    .offer(__ckpt_registrar, 0u32, "seed");
                                __ckpt_registrar.mark_clean();
                                __ckpt_registrar.save_seen("ckpt.operand1", &__ckpt_seen_1);
                                match &__ckpt_kept_2 {
                                    ::core::option::Option::Some(__ckpt_copy) => {
                                        __ckpt_registrar.save("ckpt.argument3", __ckpt_copy);
                                    }
                                    ::core::option::Option::None => {
                                        __ckpt_registrar
                                            .moved("ckpt.argument3", 0u32, &__ckpt_kept_2);
                                    }
                                }
                            },
                            || next(__ckpt_argument3),
                        )
                }
            };
            join(__ckpt_operand1, __ckpt_operand2, 7)
        };
    } else {
        joined = __ckpt.restore("joined");
    }
    #[allow(unused_mut, unused_assignments)]
    let mut __ckpt_condition4;
    if __ckpt.runs() || __ckpt.enters(3u32, 3u32) {
        __ckpt_condition4 = ({
            let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 4usize>(&seed);
            let __ckpt_seen_4 = ::ckpt::__rt::peek::<_, 4usize>(&joined);
            __ckpt
                .call(
                    3u32,
                    &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                        use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                        (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                            .offer(__ckpt_registrar, 0u32, "seed");
                        __ckpt_registrar.mark_clean();
                        __ckpt_registrar.save_seen("joined", &__ckpt_seen_4);
                    },
                    || next(3),
                )
        }) > 10 && !joined.is_empty();
    } else {
        __ckpt_condition4 = __ckpt.enters(4u32, 4u32);
    }
    if __ckpt_condition4 {
        {
            #[allow(unused_mut)]
            let mut __ckpt_operand5 = {
                let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 4usize>(&seed);
                let __ckpt_seen_4 = ::ckpt::__rt::peek::<_, 4usize>(&joined);
                __ckpt
                    .call(
                        4u32,
                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                            use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                            (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                                .offer(__ckpt_registrar, 0u32, "seed");
                            __ckpt_registrar.mark_clean();
                            __ckpt_registrar.save_seen("joined", &__ckpt_seen_4);
                        },
                        || next(4),
                    )
            };
            println!("{}", __ckpt_operand5)
        };
    }
    joined
}
