//! The arm that was taken is remembered, with what its pattern binds.
#[allow(
    clippy::collection_is_never_read,
    clippy::if_same_then_else,
    clippy::option_if_let_else,
    clippy::useless_let_if_seq,
    clippy::while_let_loop,
)]
/// Follows a chain of numbers.
pub fn chain(start: u64) -> u64 {
    static __CKPT_PLAN: ::ckpt::__rt::FunctionPlan = ::ckpt::__rt::FunctionPlan {
        function: "chain",
        module: ::core::module_path!(),
        file: ::core::file!(),
        line: 5u32,
        layout: 2470215052716630615u64,
        source: 16385007745444561296u64,
        attribute: "ckpt::instrument",
        sites: &[
            ::ckpt::__rt::SitePlan {
                line: 13u32,
                column: 23u32,
                kind: ::ckpt::__rt::SiteKind::Checkpoint,
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "start",
                        line: 5u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "at",
                        line: 6u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "steps",
                        line: 7u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "next",
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
            let mut at;
            let mut steps;
            if __ckpt.runs() {
                at = start;
                steps = 0;
            } else {
                at = __ckpt.restore("at");
                steps = __ckpt.restore("steps");
            }
            loop {
                #[allow(unused_mut, unused_assignments)]
                let mut __ckpt_choice1;
                if __ckpt.runs() {
                    __ckpt_choice1 = match at.checked_mul(3) {
                        Some(_) if at == 1 => {
                            ::core::result::Result::Ok(::core::option::Option::Some(()))
                        }
                        Some(_) if at % 2 == 0 => {
                            ::core::result::Result::Err(
                                ::core::result::Result::Ok(::core::option::Option::Some(())),
                            )
                        }
                        Some(next) => {
                            ::core::result::Result::Err(
                                ::core::result::Result::Err(
                                    ::core::result::Result::Ok(
                                        ::core::option::Option::Some((next,)),
                                    ),
                                ),
                            )
                        }
                        None => {
                            ::core::result::Result::Err(
                                ::core::result::Result::Err(
                                    ::core::result::Result::Err(
                                        ::core::option::Option::Some(()),
                                    ),
                                ),
                            )
                        }
                    };
                } else {
                    __ckpt_choice1 = if __ckpt.enters(1u32, 1u32) {
                        ::core::result::Result::Err(
                            ::core::result::Result::Err(
                                ::core::result::Result::Ok(::core::option::Option::None),
                            ),
                        )
                    } else {
                        ::core::result::Result::Err(
                            ::core::result::Result::Err(
                                ::core::result::Result::Err(::core::option::Option::None),
                            ),
                        )
                    };
                }
                match __ckpt_choice1 {
                    ::core::result::Result::Ok(_) => return steps,
                    ::core::result::Result::Err(::core::result::Result::Ok(_)) => at /= 2,
                    ::core::result::Result::Err(
                        ::core::result::Result::Err(
                            ::core::result::Result::Ok(__ckpt_bindings2),
                        ),
                    ) => {
                        let next;
                        if __ckpt.runs() {
                            #[allow(unused_mut)]
                            let (__ckpt_inner_next,) = ::ckpt::__rt::bound(
                                __ckpt_bindings2,
                            );
                            next = __ckpt_inner_next;
                        } else {
                            next = __ckpt.restore("next");
                        }
                        if __ckpt.due(1u32) {
                            let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 8usize>(&start);
                            let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&at);
                            let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 8usize>(&steps);
                            let __ckpt_seen_6 = ::ckpt::__rt::peek::<_, 8usize>(&next);
                            __ckpt
                                .checkpoint(
                                    1u32,
                                    &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                        use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                        (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                                            .offer(__ckpt_registrar, 0u32, "start");
                                        __ckpt_registrar.save_seen("at", &__ckpt_seen_1);
                                        __ckpt_registrar.save_seen("steps", &__ckpt_seen_2);
                                        __ckpt_registrar.save_seen("next", &__ckpt_seen_6);
                                    },
                                );
                        }
                        at = next + 1;
                    }
                    ::core::result::Result::Err(
                        ::core::result::Result::Err(::core::result::Result::Err(_)),
                    ) => return steps,
                }
                steps += 1;
            }
        };
    }
    let mut at;
    let mut steps;
    if __ckpt.runs() {
        at = start;
        steps = 0;
    } else {
        at = __ckpt.restore("at");
        steps = __ckpt.restore("steps");
    }
    loop {
        #[allow(unused_mut, unused_assignments)]
        let mut __ckpt_choice1;
        if __ckpt.runs() {
            __ckpt_choice1 = match at.checked_mul(3) {
                Some(_) if at == 1 => {
                    ::core::result::Result::Ok(::core::option::Option::Some(()))
                }
                Some(_) if at % 2 == 0 => {
                    ::core::result::Result::Err(
                        ::core::result::Result::Ok(::core::option::Option::Some(())),
                    )
                }
                Some(next) => {
                    ::core::result::Result::Err(
                        ::core::result::Result::Err(
                            ::core::result::Result::Ok(
                                ::core::option::Option::Some((next,)),
                            ),
                        ),
                    )
                }
                None => {
                    ::core::result::Result::Err(
                        ::core::result::Result::Err(
                            ::core::result::Result::Err(::core::option::Option::Some(())),
                        ),
                    )
                }
            };
        } else {
            __ckpt_choice1 = if __ckpt.enters(1u32, 1u32) {
                ::core::result::Result::Err(
                    ::core::result::Result::Err(
                        ::core::result::Result::Ok(::core::option::Option::None),
                    ),
                )
            } else {
                ::core::result::Result::Err(
                    ::core::result::Result::Err(
                        ::core::result::Result::Err(::core::option::Option::None),
                    ),
                )
            };
        }
        match __ckpt_choice1 {
            ::core::result::Result::Ok(_) => return steps,
            ::core::result::Result::Err(::core::result::Result::Ok(_)) => at /= 2,
            ::core::result::Result::Err(
                ::core::result::Result::Err(::core::result::Result::Ok(__ckpt_bindings2)),
            ) => {
                let next;
                if __ckpt.runs() {
                    #[allow(unused_mut)]
                    let (__ckpt_inner_next,) = ::ckpt::__rt::bound(__ckpt_bindings2);
                    next = __ckpt_inner_next;
                } else {
                    next = __ckpt.restore("next");
                }
                if __ckpt.due(1u32) {
                    let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 8usize>(&start);
                    let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&at);
                    let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 8usize>(&steps);
                    let __ckpt_seen_6 = ::ckpt::__rt::peek::<_, 8usize>(&next);
                    __ckpt
                        .checkpoint(
                            1u32,
                            &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                                    .offer(__ckpt_registrar, 0u32, "start");
                                __ckpt_registrar.save_seen("at", &__ckpt_seen_1);
                                __ckpt_registrar.save_seen("steps", &__ckpt_seen_2);
                                __ckpt_registrar.save_seen("next", &__ckpt_seen_6);
                            },
                        );
                }
                at = next + 1;
            }
            ::core::result::Result::Err(
                ::core::result::Result::Err(::core::result::Result::Err(_)),
            ) => return steps,
        }
        steps += 1;
    }
}
