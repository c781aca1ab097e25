//! With nothing marked, the site is in the costliest loop.
#[allow(
    clippy::collection_is_never_read,
    clippy::if_same_then_else,
    clippy::option_if_let_else,
    clippy::useless_let_if_seq,
    clippy::while_let_loop,
)]
/// A sum of products.
///
/// ckpt has placed a checkpoint site in the loop at line 10.
pub fn products(n: u64) -> u64 {
    static __CKPT_PLAN: ::ckpt::__rt::FunctionPlan = ::ckpt::__rt::FunctionPlan {
        function: "products",
        module: ::core::module_path!(),
        file: ::core::file!(),
        line: 5u32,
        layout: 6040393209263073877u64,
        source: 7017417407020020138u64,
        attribute: "ckpt::instrument",
        sites: &[
            ::ckpt::__rt::SitePlan {
                line: 10u32,
                column: 5u32,
                kind: ::ckpt::__rt::SiteKind::Chosen,
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "n",
                        line: 5u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "sum",
                        line: 6u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.iterator1",
                        line: 10u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "a",
                        line: 10u32,
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
            let mut sum;
            if __ckpt.runs() {
                sum = 0u64;
                for small in 0..3 {
                    sum += small;
                }
            } else {
                sum = __ckpt.restore("sum");
            }
            {
                #[allow(unused_mut, unused_assignments)]
                let mut __ckpt_iterator1;
                if __ckpt.runs() {
                    __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(0..n);
                } else {
                    __ckpt_iterator1 = __ckpt.restore("ckpt.iterator1");
                }
                loop {
                    let a;
                    if __ckpt.runs() {
                        a = match ::core::iter::Iterator::next(&mut __ckpt_iterator1) {
                            ::core::option::Option::Some(__ckpt_item) => __ckpt_item,
                            ::core::option::Option::None => break,
                        };
                    } else {
                        a = __ckpt.restore("a");
                    }
                    if __ckpt.due(1u32) {
                        let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 8usize>(&n);
                        let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&sum);
                        let __ckpt_seen_3 = ::ckpt::__rt::peek::<
                            _,
                            8usize,
                        >(&__ckpt_iterator1);
                        let __ckpt_seen_5 = ::ckpt::__rt::peek::<_, 8usize>(&a);
                        __ckpt
                            .checkpoint(
                                1u32,
                                &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                    __ckpt_registrar.required("n");
                                    __ckpt_registrar
                                        .parameter(0u32, "n", __ckpt_seen_0.value());
                                    __ckpt_registrar.save_seen("sum", &__ckpt_seen_1);
                                    __ckpt_registrar
                                        .save_seen("ckpt.iterator1", &__ckpt_seen_3);
                                    __ckpt_registrar.save_seen("a", &__ckpt_seen_5);
                                },
                            );
                    }
                    for b in 0..n {
                        sum = sum.wrapping_add(a * b);
                    }
                }
            }
            sum
        };
    }
    let n = if !__ckpt.runs() && (true) && !__ckpt.passed("n") {
        __ckpt.restore("n")
    } else {
        n
    };
    let mut sum;
    if __ckpt.runs() {
        sum = 0u64;
        for small in 0..3 {
            sum += small;
        }
    } else {
        sum = __ckpt.restore("sum");
    }
    {
        #[allow(unused_mut, unused_assignments)]
        let mut __ckpt_iterator1;
        if __ckpt.runs() {
            __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(0..n);
        } else {
            __ckpt_iterator1 = __ckpt.restore("ckpt.iterator1");
        }
        loop {
            let a;
            if __ckpt.runs() {
                a = match ::core::iter::Iterator::next(&mut __ckpt_iterator1) {
                    ::core::option::Option::Some(__ckpt_item) => __ckpt_item,
                    ::core::option::Option::None => break,
                };
            } else {
                a = __ckpt.restore("a");
            }
            if __ckpt.due(1u32) {
                let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 8usize>(&n);
                let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&sum);
                let __ckpt_seen_3 = ::ckpt::__rt::peek::<_, 8usize>(&__ckpt_iterator1);
                let __ckpt_seen_5 = ::ckpt::__rt::peek::<_, 8usize>(&a);
                __ckpt
                    .checkpoint(
                        1u32,
                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                            __ckpt_registrar.required("n");
                            __ckpt_registrar.parameter(0u32, "n", __ckpt_seen_0.value());
                            __ckpt_registrar.save_seen("sum", &__ckpt_seen_1);
                            __ckpt_registrar.save_seen("ckpt.iterator1", &__ckpt_seen_3);
                            __ckpt_registrar.save_seen("a", &__ckpt_seen_5);
                        },
                    );
            }
            for b in 0..n {
                sum = sum.wrapping_add(a * b);
            }
        }
    }
    sum
}
