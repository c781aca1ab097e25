//! Methods: the receiver is a parameter like others.
/// A simulation.
#[derive(ckpt::Checkpoint)]
pub struct Simulation {
    time: f64,
    cells: Vec<f64>,
}
impl Simulation {
    #[allow(
        clippy::collection_is_never_read,
        clippy::if_same_then_else,
        clippy::option_if_let_else,
        clippy::useless_let_if_seq,
        clippy::while_let_loop,
    )]
    /// Runs to the end.
    pub fn run(&mut self, end: f64) {
        static __CKPT_PLAN: ::ckpt::__rt::FunctionPlan = ::ckpt::__rt::FunctionPlan {
            function: "run",
            module: ::core::module_path!(),
            file: ::core::file!(),
            line: 13u32,
            layout: 14526304281122666493u64,
            source: 4414158092434461594u64,
            attribute: "ckpt::instrument",
            sites: &[
                ::ckpt::__rt::SitePlan {
                    line: 16u32,
                    column: 13u32,
                    kind: ::ckpt::__rt::SiteKind::Call {
                        callee: "step",
                    },
                    variables: &[
                        ::ckpt::__rt::VariablePlan {
                            key: "self",
                            line: 13u32,
                            on_demand: true,
                        },
                        ::ckpt::__rt::VariablePlan {
                            key: "end",
                            line: 13u32,
                            on_demand: false,
                        },
                        ::ckpt::__rt::VariablePlan {
                            key: "dt",
                            line: 14u32,
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
                let end = if !__ckpt.runs() && (true) && !__ckpt.passed("end") {
                    __ckpt.restore("end")
                } else {
                    end
                };
                let dt;
                if __ckpt.runs() {
                    dt = 0.25;
                } else {
                    dt = __ckpt.restore("dt");
                }
                loop {
                    if __ckpt.runs() {
                        if !(self.time < end) {
                            break;
                        }
                    }
                    {
                        let __ckpt_saver_0 = {
                            #[allow(unused_imports)]
                            use ::ckpt::__rt::{KnownToLender as _, UnknownToLender as _};
                            (&::ckpt::__rt::Lend(&*self)).saver()
                        };
                        let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 4usize>(&end);
                        let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 4usize>(&dt);
                        __ckpt
                            .call(
                                1u32,
                                &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                    __ckpt_registrar
                                        .lent_parameter(0u32, "self", 0u32, __ckpt_saver_0);
                                    __ckpt_registrar.required("end");
                                    __ckpt_registrar
                                        .parameter(1u32, "end", __ckpt_seen_1.value());
                                    __ckpt_registrar.mark_clean();
                                    __ckpt_registrar.save_seen("dt", &__ckpt_seen_2);
                                },
                                || self.step(dt),
                            )
                    };
                    self.time += dt;
                }
            };
        }
        let end = if !__ckpt.runs() && (true) && !__ckpt.passed("end") {
            __ckpt.restore("end")
        } else {
            end
        };
        let dt;
        if __ckpt.runs() {
            dt = 0.25;
        } else {
            dt = __ckpt.restore("dt");
        }
        loop {
            if __ckpt.runs() {
                if !(self.time < end) {
                    break;
                }
            }
            {
                let __ckpt_saver_0 = {
                    #[allow(unused_imports)]
                    use ::ckpt::__rt::{KnownToLender as _, UnknownToLender as _};
                    (&::ckpt::__rt::Lend(&*self)).saver()
                };
                let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 4usize>(&end);
                let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 4usize>(&dt);
                __ckpt
                    .call(
                        1u32,
                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                            __ckpt_registrar
                                .lent_parameter(0u32, "self", 0u32, __ckpt_saver_0);
                            __ckpt_registrar.required("end");
                            __ckpt_registrar
                                .parameter(1u32, "end", __ckpt_seen_1.value());
                            __ckpt_registrar.mark_clean();
                            __ckpt_registrar.save_seen("dt", &__ckpt_seen_2);
                        },
                        || self.step(dt),
                    )
            };
            self.time += dt;
        }
    }
    #[allow(
        clippy::collection_is_never_read,
        clippy::if_same_then_else,
        clippy::option_if_let_else,
        clippy::useless_let_if_seq,
        clippy::while_let_loop,
    )]
    fn step(&mut self, dt: f64) {
        static __CKPT_PLAN: ::ckpt::__rt::FunctionPlan = ::ckpt::__rt::FunctionPlan {
            function: "step",
            module: ::core::module_path!(),
            file: ::core::file!(),
            line: 22u32,
            layout: 11528754016231712711u64,
            source: 6417401008515587220u64,
            attribute: "ckpt::instrument",
            sites: &[
                ::ckpt::__rt::SitePlan {
                    line: 24u32,
                    column: 19u32,
                    kind: ::ckpt::__rt::SiteKind::Checkpoint,
                    variables: &[
                        ::ckpt::__rt::VariablePlan {
                            key: "self",
                            line: 22u32,
                            on_demand: true,
                        },
                        ::ckpt::__rt::VariablePlan {
                            key: "dt",
                            line: 22u32,
                            on_demand: false,
                        },
                        ::ckpt::__rt::VariablePlan {
                            key: "ckpt.iterator1",
                            line: 23u32,
                            on_demand: false,
                        },
                        ::ckpt::__rt::VariablePlan {
                            key: "index",
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
                            0..self.cells.len(),
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
                                        (&::ckpt::__rt::Probe(&*self))
                                            .offer(__ckpt_registrar, 0u32, "self");
                                        __ckpt_registrar.required("dt");
                                        __ckpt_registrar
                                            .parameter(1u32, "dt", __ckpt_seen_1.value());
                                        __ckpt_registrar
                                            .save_seen("ckpt.iterator1", &__ckpt_seen_2);
                                        __ckpt_registrar.save_seen("index", &__ckpt_seen_4);
                                    },
                                );
                        }
                        self.cells[index] += dt;
                    }
                }
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
                __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(
                    0..self.cells.len(),
                );
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
                                (&::ckpt::__rt::Probe(&*self))
                                    .offer(__ckpt_registrar, 0u32, "self");
                                __ckpt_registrar.required("dt");
                                __ckpt_registrar
                                    .parameter(1u32, "dt", __ckpt_seen_1.value());
                                __ckpt_registrar
                                    .save_seen("ckpt.iterator1", &__ckpt_seen_2);
                                __ckpt_registrar.save_seen("index", &__ckpt_seen_4);
                            },
                        );
                }
                self.cells[index] += dt;
            }
        }
    }
}
