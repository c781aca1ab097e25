//! The iterator of a range is saved; a label stays.
#[allow(
    clippy::collection_is_never_read,
    clippy::if_same_then_else,
    clippy::option_if_let_else,
    clippy::useless_let_if_seq,
    clippy::while_let_loop,
)]
/// Finds the first pair that multiplies to `n`.
pub fn factors(n: u64) -> Option<(u64, u64)> {
    static __CKPT_PLAN: ::ckpt::__rt::FunctionPlan = ::ckpt::__rt::FunctionPlan {
        function: "factors",
        module: ::core::module_path!(),
        file: ::core::file!(),
        line: 5u32,
        layout: 10671293684533225004u64,
        source: 2017952180656554507u64,
        attribute: "ckpt::instrument",
        sites: &[
            ::ckpt::__rt::SitePlan {
                line: 9u32,
                column: 19u32,
                kind: ::ckpt::__rt::SiteKind::Checkpoint,
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "n",
                        line: 5u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "found",
                        line: 6u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.iterator1",
                        line: 7u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "a",
                        line: 7u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.iterator2",
                        line: 8u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "b",
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
            let n = if !__ckpt.runs() && (true) && !__ckpt.passed("n") {
                __ckpt.restore("n")
            } else {
                n
            };
            let mut found;
            if __ckpt.runs() {
                found = None;
            } else {
                found = __ckpt.restore("found");
            }
            {
                #[allow(unused_mut, unused_assignments)]
                let mut __ckpt_iterator1;
                if __ckpt.runs() {
                    __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(2..n);
                } else {
                    __ckpt_iterator1 = __ckpt.restore("ckpt.iterator1");
                }
                'rows: loop {
                    let a;
                    if __ckpt.runs() {
                        a = match ::core::iter::Iterator::next(&mut __ckpt_iterator1) {
                            ::core::option::Option::Some(__ckpt_item) => __ckpt_item,
                            ::core::option::Option::None => break,
                        };
                    } else {
                        a = __ckpt.restore("a");
                    }
                    {
                        #[allow(unused_mut, unused_assignments)]
                        let mut __ckpt_iterator2;
                        if __ckpt.runs() {
                            __ckpt_iterator2 = ::core::iter::IntoIterator::into_iter(
                                (a..n).rev(),
                            );
                        } else {
                            __ckpt_iterator2 = __ckpt.restore("ckpt.iterator2");
                        }
                        loop {
                            let b;
                            if __ckpt.runs() {
                                b = match ::core::iter::Iterator::next(
                                    &mut __ckpt_iterator2,
                                ) {
                                    ::core::option::Option::Some(__ckpt_item) => __ckpt_item,
                                    ::core::option::Option::None => break,
                                };
                            } else {
                                b = __ckpt.restore("b");
                            }
                            if __ckpt.due(1u32) {
                                let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 8usize>(&n);
                                let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&found);
                                let __ckpt_seen_2 = ::ckpt::__rt::peek::<
                                    _,
                                    8usize,
                                >(&__ckpt_iterator1);
                                let __ckpt_seen_4 = ::ckpt::__rt::peek::<_, 8usize>(&a);
                                let __ckpt_seen_5 = ::ckpt::__rt::peek::<
                                    _,
                                    8usize,
                                >(&__ckpt_iterator2);
                                let __ckpt_seen_7 = ::ckpt::__rt::peek::<_, 8usize>(&b);
                                __ckpt
                                    .checkpoint(
                                        1u32,
                                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                            __ckpt_registrar.required("n");
                                            __ckpt_registrar
                                                .parameter(0u32, "n", __ckpt_seen_0.value());
                                            __ckpt_registrar.mark_unread();
                                            __ckpt_registrar.save_seen("found", &__ckpt_seen_1);
                                            __ckpt_registrar
                                                .save_seen("ckpt.iterator1", &__ckpt_seen_2);
                                            __ckpt_registrar.save_seen("a", &__ckpt_seen_4);
                                            __ckpt_registrar
                                                .save_seen("ckpt.iterator2", &__ckpt_seen_5);
                                            __ckpt_registrar.save_seen("b", &__ckpt_seen_7);
                                        },
                                    );
                            }
                            if a * b == n {
                                found = Some((a, b));
                                break 'rows;
                            }
                        }
                    }
                }
            }
            found
        };
    }
    let n = if !__ckpt.runs() && (true) && !__ckpt.passed("n") {
        __ckpt.restore("n")
    } else {
        n
    };
    let mut found;
    if __ckpt.runs() {
        found = None;
    } else {
        found = __ckpt.restore("found");
    }
    {
        #[allow(unused_mut, unused_assignments)]
        let mut __ckpt_iterator1;
        if __ckpt.runs() {
            __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(2..n);
        } else {
            __ckpt_iterator1 = __ckpt.restore("ckpt.iterator1");
        }
        'rows: loop {
            let a;
            if __ckpt.runs() {
                a = match ::core::iter::Iterator::next(&mut __ckpt_iterator1) {
                    ::core::option::Option::Some(__ckpt_item) => __ckpt_item,
                    ::core::option::Option::None => break,
                };
            } else {
                a = __ckpt.restore("a");
            }
            {
                #[allow(unused_mut, unused_assignments)]
                let mut __ckpt_iterator2;
                if __ckpt.runs() {
                    __ckpt_iterator2 = ::core::iter::IntoIterator::into_iter(
                        (a..n).rev(),
                    );
                } else {
                    __ckpt_iterator2 = __ckpt.restore("ckpt.iterator2");
                }
                loop {
                    let b;
                    if __ckpt.runs() {
                        b = match ::core::iter::Iterator::next(&mut __ckpt_iterator2) {
                            ::core::option::Option::Some(__ckpt_item) => __ckpt_item,
                            ::core::option::Option::None => break,
                        };
                    } else {
                        b = __ckpt.restore("b");
                    }
                    if __ckpt.due(1u32) {
                        let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 8usize>(&n);
                        let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&found);
                        let __ckpt_seen_2 = ::ckpt::__rt::peek::<
                            _,
                            8usize,
                        >(&__ckpt_iterator1);
                        let __ckpt_seen_4 = ::ckpt::__rt::peek::<_, 8usize>(&a);
                        let __ckpt_seen_5 = ::ckpt::__rt::peek::<
                            _,
                            8usize,
                        >(&__ckpt_iterator2);
                        let __ckpt_seen_7 = ::ckpt::__rt::peek::<_, 8usize>(&b);
                        __ckpt
                            .checkpoint(
                                1u32,
                                &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                    __ckpt_registrar.required("n");
                                    __ckpt_registrar
                                        .parameter(0u32, "n", __ckpt_seen_0.value());
                                    __ckpt_registrar.mark_unread();
                                    __ckpt_registrar.save_seen("found", &__ckpt_seen_1);
                                    __ckpt_registrar
                                        .save_seen("ckpt.iterator1", &__ckpt_seen_2);
                                    __ckpt_registrar.save_seen("a", &__ckpt_seen_4);
                                    __ckpt_registrar
                                        .save_seen("ckpt.iterator2", &__ckpt_seen_5);
                                    __ckpt_registrar.save_seen("b", &__ckpt_seen_7);
                                },
                            );
                    }
                    if a * b == n {
                        found = Some((a, b));
                        break 'rows;
                    }
                }
            }
        }
    }
    found
}
