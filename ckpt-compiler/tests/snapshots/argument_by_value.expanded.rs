//! An argument passed by value lives in the callee.
#[allow(
    clippy::collection_is_never_read,
    clippy::if_same_then_else,
    clippy::option_if_let_else,
    clippy::useless_let_if_seq,
    clippy::while_let_loop,
)]
/// Consumes its list.
pub fn drain(list: Vec<u32>) -> u32 {
    static __CKPT_PLAN: ::ckpt::__rt::FunctionPlan = ::ckpt::__rt::FunctionPlan {
        function: "drain",
        module: ::core::module_path!(),
        file: ::core::file!(),
        line: 5u32,
        layout: 9276516696457924105u64,
        source: 2909009225172147508u64,
        attribute: "ckpt::instrument",
        sites: &[
            ::ckpt::__rt::SitePlan {
                line: 8u32,
                column: 15u32,
                kind: ::ckpt::__rt::SiteKind::Checkpoint,
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "list",
                        line: 5u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "sum",
                        line: 6u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "last",
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
            let mut list = if !__ckpt.runs() && (true) && !__ckpt.passed("list") {
                __ckpt.restore("list")
            } else {
                list
            };
            let mut sum;
            if __ckpt.runs() {
                sum = 0;
            } else {
                sum = __ckpt.restore("sum");
            }
            loop {
                let __ckpt_out_last_3;
                if __ckpt.runs() {
                    #[allow(unused_mut)]
                    let (last,) = if let Some(last) = list.pop() {
                        (last,)
                    } else {
                        break
                    };
                    __ckpt_out_last_3 = last;
                } else {
                    __ckpt_out_last_3 = __ckpt.restore("last");
                }
                let last = __ckpt_out_last_3;
                if __ckpt.due(1u32) {
                    let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&sum);
                    let __ckpt_seen_3 = ::ckpt::__rt::peek::<_, 8usize>(&last);
                    __ckpt
                        .checkpoint(
                            1u32,
                            &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                __ckpt_registrar.required("list");
                                __ckpt_registrar.parameter(0u32, "list", &list);
                                __ckpt_registrar.save_seen("sum", &__ckpt_seen_1);
                                __ckpt_registrar.save_seen("last", &__ckpt_seen_3);
                            },
                        );
                }
                sum += last;
            }
            sum
        };
    }
    let mut list = if !__ckpt.runs() && (true) && !__ckpt.passed("list") {
        __ckpt.restore("list")
    } else {
        list
    };
    let mut sum;
    if __ckpt.runs() {
        sum = 0;
    } else {
        sum = __ckpt.restore("sum");
    }
    loop {
        let __ckpt_out_last_3;
        if __ckpt.runs() {
            #[allow(unused_mut)]
            let (last,) = if let Some(last) = list.pop() { (last,) } else { break };
            __ckpt_out_last_3 = last;
        } else {
            __ckpt_out_last_3 = __ckpt.restore("last");
        }
        let last = __ckpt_out_last_3;
        if __ckpt.due(1u32) {
            let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&sum);
            let __ckpt_seen_3 = ::ckpt::__rt::peek::<_, 8usize>(&last);
            __ckpt
                .checkpoint(
                    1u32,
                    &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                        __ckpt_registrar.required("list");
                        __ckpt_registrar.parameter(0u32, "list", &list);
                        __ckpt_registrar.save_seen("sum", &__ckpt_seen_1);
                        __ckpt_registrar.save_seen("last", &__ckpt_seen_3);
                    },
                );
        }
        sum += last;
    }
    sum
}
#[allow(
    clippy::collection_is_never_read,
    clippy::if_same_then_else,
    clippy::option_if_let_else,
    clippy::useless_let_if_seq,
    clippy::while_let_loop,
)]
/// Makes the list.
pub fn total(n: u32) -> u32 {
    static __CKPT_PLAN: ::ckpt::__rt::FunctionPlan = ::ckpt::__rt::FunctionPlan {
        function: "total",
        module: ::core::module_path!(),
        file: ::core::file!(),
        line: 16u32,
        layout: 1120977589728600498u64,
        source: 3770017913137488812u64,
        attribute: "ckpt::instrument",
        sites: &[
            ::ckpt::__rt::SitePlan {
                line: 19u32,
                column: 19u32,
                kind: ::ckpt::__rt::SiteKind::Call {
                    callee: "drain",
                },
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "n",
                        line: 16u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "list",
                        line: 17u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "weight",
                        line: 18u32,
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
            let list: Vec<u32>;
            let weight;
            if __ckpt.runs() {
                list = (0..n).collect();
                weight = n / 2;
            } else {
                list = __ckpt.restore_moved("list");
                weight = __ckpt.restore("weight");
            }
            let drained = {
                if false {
                    let _ = || drain(::ckpt::__rt::like(&list));
                    ::core::unreachable!()
                }
                let __ckpt_kept_1 = {
                    #[allow(unused_imports)]
                    use ::ckpt::__rt::{KeepClone as _, KeepCopy as _, KeepNothing as _};
                    (&&::ckpt::__rt::Keep(&list)).keep()
                };
                let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 4usize>(&n);
                let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 4usize>(&weight);
                __ckpt
                    .call(
                        1u32,
                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                            use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                            (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                                .offer(__ckpt_registrar, 0u32, "n");
                            match &__ckpt_kept_1 {
                                ::core::option::Option::Some(__ckpt_copy) => {
                                    __ckpt_registrar.save("list", __ckpt_copy);
                                }
                                ::core::option::Option::None => {
                                    __ckpt_registrar.moved("list", 0u32, &__ckpt_kept_1);
                                }
                            }
                            __ckpt_registrar.mark_unread();
                            __ckpt_registrar.save_seen("weight", &__ckpt_seen_2);
                        },
                        || drain(list),
                    )
            };
            drained + weight
        };
    }
    let list: Vec<u32>;
    let weight;
    if __ckpt.runs() {
        list = (0..n).collect();
        weight = n / 2;
    } else {
        list = __ckpt.restore_moved("list");
        weight = __ckpt.restore("weight");
    }
    let drained = {
        if false {
            let _ = || drain(::ckpt::__rt::like(&list));
            ::core::unreachable!()
        }
        let __ckpt_kept_1 = {
            #[allow(unused_imports)]
            use ::ckpt::__rt::{KeepClone as _, KeepCopy as _, KeepNothing as _};
            (&&::ckpt::__rt::Keep(&list)).keep()
        };
        let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 4usize>(&n);
        let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 4usize>(&weight);
        __ckpt
            .call(
                1u32,
                &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                    use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                    (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                        .offer(__ckpt_registrar, 0u32, "n");
                    match &__ckpt_kept_1 {
                        ::core::option::Option::Some(__ckpt_copy) => {
                            __ckpt_registrar.save("list", __ckpt_copy);
                        }
                        ::core::option::Option::None => {
                            __ckpt_registrar.moved("list", 0u32, &__ckpt_kept_1);
                        }
                    }
                    __ckpt_registrar.mark_unread();
                    __ckpt_registrar.save_seen("weight", &__ckpt_seen_2);
                },
                || drain(list),
            )
    };
    drained + weight
}
