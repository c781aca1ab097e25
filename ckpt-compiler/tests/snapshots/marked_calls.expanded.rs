//! A call that leads to a site: what it borrows exclusively lives in the callee meanwhile.
#[allow(
    clippy::collection_is_never_read,
    clippy::if_same_then_else,
    clippy::option_if_let_else,
    clippy::useless_let_if_seq,
    clippy::while_let_loop,
)]
/// One step.
///
/// # Errors
/// Where the grid is empty.
pub fn advance(grid: &mut Vec<f64>, dt: f64) -> Result<f64, String> {
    static __CKPT_PLAN: ::ckpt::__rt::FunctionPlan = ::ckpt::__rt::FunctionPlan {
        function: "advance",
        module: ::core::module_path!(),
        file: ::core::file!(),
        line: 8u32,
        layout: 6944033895778560589u64,
        source: 6474119973341613944u64,
        attribute: "ckpt::instrument",
        sites: &[
            ::ckpt::__rt::SitePlan {
                line: 10u32,
                column: 15u32,
                kind: ::ckpt::__rt::SiteKind::Checkpoint,
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "grid",
                        line: 8u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "dt",
                        line: 8u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.iterator1",
                        line: 9u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "index",
                        line: 9u32,
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
            let dt = if !__ckpt.runs() && (true) && !__ckpt.passed("dt") {
                __ckpt.restore("dt")
            } else {
                dt
            };
            {
                #[allow(unused_mut, unused_assignments)]
                let mut __ckpt_iterator1;
                if __ckpt.runs() {
                    __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(
                        0..grid.len(),
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
                        let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&dt);
                        let __ckpt_seen_2 = ::ckpt::__rt::peek::<
                            _,
                            8usize,
                        >(&__ckpt_iterator1);
                        let __ckpt_seen_4 = ::ckpt::__rt::peek::<_, 8usize>(&index);
                        __ckpt
                            .checkpoint(
                                1u32,
                                &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                    use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                    (&::ckpt::__rt::Probe(&*grid))
                                        .offer(__ckpt_registrar, 0u32, "grid");
                                    __ckpt_registrar.required("dt");
                                    __ckpt_registrar
                                        .parameter(1u32, "dt", __ckpt_seen_1.value());
                                    __ckpt_registrar
                                        .save_seen("ckpt.iterator1", &__ckpt_seen_2);
                                    __ckpt_registrar.save_seen("index", &__ckpt_seen_4);
                                },
                            );
                    }
                    grid[index] += dt;
                }
            }
            grid.first().copied().ok_or_else(|| "empty".to_owned())
        };
    }
    let dt = if !__ckpt.runs() && (true) && !__ckpt.passed("dt") {
        __ckpt.restore("dt")
    } else {
        dt
    };
    {
        #[allow(unused_mut, unused_assignments)]
        let mut __ckpt_iterator1;
        if __ckpt.runs() {
            __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(0..grid.len());
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
                let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&dt);
                let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 8usize>(&__ckpt_iterator1);
                let __ckpt_seen_4 = ::ckpt::__rt::peek::<_, 8usize>(&index);
                __ckpt
                    .checkpoint(
                        1u32,
                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                            use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                            (&::ckpt::__rt::Probe(&*grid))
                                .offer(__ckpt_registrar, 0u32, "grid");
                            __ckpt_registrar.required("dt");
                            __ckpt_registrar
                                .parameter(1u32, "dt", __ckpt_seen_1.value());
                            __ckpt_registrar.save_seen("ckpt.iterator1", &__ckpt_seen_2);
                            __ckpt_registrar.save_seen("index", &__ckpt_seen_4);
                        },
                    );
            }
            grid[index] += dt;
        }
    }
    grid.first().copied().ok_or_else(|| "empty".to_owned())
}
#[allow(
    clippy::collection_is_never_read,
    clippy::if_same_then_else,
    clippy::option_if_let_else,
    clippy::useless_let_if_seq,
    clippy::while_let_loop,
)]
/// All steps.
///
/// # Errors
/// Where one fails.
pub fn run(steps: u32) -> Result<f64, String> {
    static __CKPT_PLAN: ::ckpt::__rt::FunctionPlan = ::ckpt::__rt::FunctionPlan {
        function: "run",
        module: ::core::module_path!(),
        file: ::core::file!(),
        line: 21u32,
        layout: 5332838872512165514u64,
        source: 17583397804128703771u64,
        attribute: "ckpt::instrument",
        sites: &[
            ::ckpt::__rt::SitePlan {
                line: 25u32,
                column: 16u32,
                kind: ::ckpt::__rt::SiteKind::Call {
                    callee: "advance",
                },
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "steps",
                        line: 21u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "grid",
                        line: 22u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "sum",
                        line: 23u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.iterator1",
                        line: 24u32,
                        on_demand: false,
                    },
                ],
            },
            ::ckpt::__rt::SitePlan {
                line: 27u32,
                column: 14u32,
                kind: ::ckpt::__rt::SiteKind::Call {
                    callee: "advance",
                },
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "steps",
                        line: 21u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "grid",
                        line: 22u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "sum",
                        line: 23u32,
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
            let mut grid;
            let mut sum;
            if __ckpt.runs() {
                grid = vec![0.0; 10];
                sum = 0.0;
            } else {
                grid = __ckpt.restore("grid");
                sum = __ckpt.restore("sum");
            }
            if __ckpt.runs() || __ckpt.enters(1u32, 1u32) {
                {
                    #[allow(unused_mut, unused_assignments)]
                    let mut __ckpt_iterator1;
                    if __ckpt.runs() {
                        __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(
                            0..steps,
                        );
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
                        sum
                            += ({
                                let __ckpt_saver_1 = {
                                    #[allow(unused_imports)]
                                    use ::ckpt::__rt::{
                                        KnownToLender as _, UnknownToLender as _,
                                    };
                                    (&::ckpt::__rt::Lend(&grid)).saver()
                                };
                                let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 4usize>(&steps);
                                let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 4usize>(&sum);
                                let __ckpt_seen_3 = ::ckpt::__rt::peek::<
                                    _,
                                    4usize,
                                >(&__ckpt_iterator1);
                                __ckpt
                                    .call(
                                        1u32,
                                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                            use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                            (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                                                .offer(__ckpt_registrar, 0u32, "steps");
                                            __ckpt_registrar.lent("grid", 0u32, __ckpt_saver_1);
                                            __ckpt_registrar.save_seen("sum", &__ckpt_seen_2);
                                            __ckpt_registrar
                                                .save_seen("ckpt.iterator1", &__ckpt_seen_3);
                                        },
                                        || advance(&mut grid, 0.5),
                                    )
                            })?;
                    }
                }
            }
            {
                #[allow(unused_mut)]
                let mut __ckpt_operand2 = {
                    #[allow(unused_mut)]
                    let mut __ckpt_operand3 = ({
                        let __ckpt_saver_1 = {
                            #[allow(unused_imports)]
                            use ::ckpt::__rt::{KnownToLender as _, UnknownToLender as _};
                            (&::ckpt::__rt::Lend(&grid)).saver()
                        };
                        let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 4usize>(&steps);
                        let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 4usize>(&sum);
                        __ckpt
                            .call(
                                2u32,
                                &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                    use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                    (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                                        .offer(__ckpt_registrar, 0u32, "steps");
                                    __ckpt_registrar.lent("grid", 0u32, __ckpt_saver_1);
                                    __ckpt_registrar.mark_clean();
                                    __ckpt_registrar.save_seen("sum", &__ckpt_seen_2);
                                },
                                || advance(&mut grid, 0.1),
                            )
                    })?;
                    sum + __ckpt_operand3
                };
                Ok(__ckpt_operand2)
            }
        };
    }
    let mut grid;
    let mut sum;
    if __ckpt.runs() {
        grid = vec![0.0; 10];
        sum = 0.0;
    } else {
        grid = __ckpt.restore("grid");
        sum = __ckpt.restore("sum");
    }
    if __ckpt.runs() || __ckpt.enters(1u32, 1u32) {
        {
            #[allow(unused_mut, unused_assignments)]
            let mut __ckpt_iterator1;
            if __ckpt.runs() {
                __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(0..steps);
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
                sum
                    += ({
                        let __ckpt_saver_1 = {
                            #[allow(unused_imports)]
                            use ::ckpt::__rt::{KnownToLender as _, UnknownToLender as _};
                            (&::ckpt::__rt::Lend(&grid)).saver()
                        };
                        let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 4usize>(&steps);
                        let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 4usize>(&sum);
                        let __ckpt_seen_3 = ::ckpt::__rt::peek::<
                            _,
                            4usize,
                        >(&__ckpt_iterator1);
                        __ckpt
                            .call(
                                1u32,
                                &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                    use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                    (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                                        .offer(__ckpt_registrar, 0u32, "steps");
                                    __ckpt_registrar.lent("grid", 0u32, __ckpt_saver_1);
                                    __ckpt_registrar.save_seen("sum", &__ckpt_seen_2);
                                    __ckpt_registrar
                                        .save_seen("ckpt.iterator1", &__ckpt_seen_3);
                                },
                                || advance(&mut grid, 0.5),
                            )
                    })?;
            }
        }
    }
    {
        #[allow(unused_mut)]
        let mut __ckpt_operand2 = {
            #[allow(unused_mut)]
            let mut __ckpt_operand3 = ({
                let __ckpt_saver_1 = {
                    #[allow(unused_imports)]
                    use ::ckpt::__rt::{KnownToLender as _, UnknownToLender as _};
                    (&::ckpt::__rt::Lend(&grid)).saver()
                };
                let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 4usize>(&steps);
                let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 4usize>(&sum);
                __ckpt
                    .call(
                        2u32,
                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                            use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                            (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                                .offer(__ckpt_registrar, 0u32, "steps");
                            __ckpt_registrar.lent("grid", 0u32, __ckpt_saver_1);
                            __ckpt_registrar.mark_clean();
                            __ckpt_registrar.save_seen("sum", &__ckpt_seen_2);
                        },
                        || advance(&mut grid, 0.1),
                    )
            })?;
            sum + __ckpt_operand3
        };
        Ok(__ckpt_operand2)
    }
}
