//! Loops of quick iterations: most run in a copy of the body without the site.
#[allow(
    clippy::collection_is_never_read,
    clippy::if_same_then_else,
    clippy::option_if_let_else,
    clippy::useless_let_if_seq,
    clippy::while_let_loop,
)]
/// How many steps it takes to 1, for the number below the bound that needs most.
pub fn longest(bound: u64) -> Option<(u64, u64)> {
    static __CKPT_PLAN: ::ckpt::__rt::FunctionPlan = ::ckpt::__rt::FunctionPlan {
        function: "longest",
        module: ::core::module_path!(),
        file: ::core::file!(),
        line: 5u32,
        layout: 3048741638588416026u64,
        source: 6459702933869459897u64,
        attribute: "ckpt::instrument",
        sites: &[
            ::ckpt::__rt::SitePlan {
                line: 9u32,
                column: 15u32,
                kind: ::ckpt::__rt::SiteKind::Checkpoint,
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "bound",
                        line: 5u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "best",
                        line: 6u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "start",
                        line: 7u32,
                        on_demand: false,
                    },
                ],
            },
            ::ckpt::__rt::SitePlan {
                line: 34u32,
                column: 15u32,
                kind: ::ckpt::__rt::SiteKind::Checkpoint,
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "bound",
                        line: 5u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "best",
                        line: 6u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "start",
                        line: 7u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.iterator1",
                        line: 33u32,
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
            let bound = if !__ckpt.runs() && (__ckpt.enters(1u32, 1u32))
                && !__ckpt.passed("bound")
            {
                __ckpt.restore("bound")
            } else {
                bound
            };
            let mut best;
            let mut start;
            if __ckpt.runs() {
                best = (0, 0);
                start = 0;
            } else {
                best = __ckpt.restore("best");
                start = __ckpt.restore("start");
            }
            #[allow(unused_mut, unused_assignments)]
            let mut __ckpt_out_ended_5 = ::core::option::Option::None;
            if __ckpt.runs() || __ckpt.enters(1u32, 1u32) {
                #[allow(unused_mut)]
                let ended = {
                    #[allow(non_upper_case_globals)]
                    static __ckpt_PACE: ::ckpt::__rt::Pace = ::ckpt::__rt::Pace::new();
                    let mut __ckpt_strip = ::ckpt::__rt::Strip::new();
                    '__ckpt_strips: loop {
                        {
                            if !__ckpt_strip.passes() {
                                let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 8usize>(&bound);
                                let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&best);
                                let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 8usize>(&start);
                                let __ckpt_length = __ckpt
                                    .looks_up(
                                        1u32,
                                        &__ckpt_PACE,
                                        __ckpt_strip.take(),
                                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                            __ckpt_registrar.required("bound");
                                            __ckpt_registrar
                                                .parameter(0u32, "bound", __ckpt_seen_0.value());
                                            __ckpt_registrar.save_seen("best", &__ckpt_seen_1);
                                            __ckpt_registrar.save_seen("start", &__ckpt_seen_2);
                                        },
                                    );
                                __ckpt_strip.begin(__ckpt_length);
                            }
                            start += 1;
                            if start == bound {
                                break start;
                            }
                            if start % 2 == 0 {
                                continue;
                            }
                            let (mut at, mut steps) = (start, 0);
                            while at != 1 {
                                at = if at % 2 == 0 {
                                    at / 2
                                } else {
                                    at.checked_mul(3)? + 1
                                };
                                steps += 1;
                                if steps > 10_000 {
                                    break;
                                }
                            }
                            if steps > best.1 {
                                best = (start, steps);
                            }
                        }
                        while __ckpt_strip.goes_on() {
                            __ckpt_strip.counts();
                            start += 1;
                            if start == bound {
                                break '__ckpt_strips start;
                            }
                            if start % 2 == 0 {
                                continue;
                            }
                            let (mut at, mut steps) = (start, 0);
                            while at != 1 {
                                at = if at % 2 == 0 {
                                    at / 2
                                } else {
                                    at.checked_mul(3)? + 1
                                };
                                steps += 1;
                                if steps > 10_000 {
                                    break;
                                }
                            }
                            if steps > best.1 {
                                best = (start, steps);
                            }
                        }
                    }
                };
                __ckpt_out_ended_5 = ::core::option::Option::Some(ended);
            }
            #[allow(unused_mut)]
            let mut __ckpt_slot_ended_5 = __ckpt_out_ended_5;
            #[allow(unused_mut, unused_variables, unused_assignments)]
            let mut ended;
            #[allow(unused_assignments)]
            if false {
                ended = ::ckpt::__rt::take(&mut __ckpt_slot_ended_5);
            }
            {
                #[allow(unused_mut, unused_assignments)]
                let mut __ckpt_iterator1;
                if __ckpt.runs() {
                    ended = ::ckpt::__rt::take(&mut __ckpt_slot_ended_5);
                    __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(0..ended);
                } else {
                    __ckpt_iterator1 = __ckpt.restore("ckpt.iterator1");
                }
                {
                    #[allow(non_upper_case_globals)]
                    static __ckpt_PACE: ::ckpt::__rt::Pace = ::ckpt::__rt::Pace::new();
                    let mut __ckpt_strip = ::ckpt::__rt::Strip::new();
                    '__ckpt_strips: loop {
                        {
                            if __ckpt.runs() {
                                let _ = match ::core::iter::Iterator::next(
                                    &mut __ckpt_iterator1,
                                ) {
                                    ::core::option::Option::Some(__ckpt_item) => __ckpt_item,
                                    ::core::option::Option::None => break,
                                };
                            }
                            if !__ckpt_strip.passes() {
                                let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 8usize>(&bound);
                                let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&best);
                                let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 8usize>(&start);
                                let __ckpt_seen_6 = ::ckpt::__rt::peek::<
                                    _,
                                    8usize,
                                >(&__ckpt_iterator1);
                                let __ckpt_length = __ckpt
                                    .looks_up(
                                        2u32,
                                        &__ckpt_PACE,
                                        __ckpt_strip.take(),
                                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                            use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                            (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                                                .offer(__ckpt_registrar, 0u32, "bound");
                                            __ckpt_registrar.save_seen("best", &__ckpt_seen_1);
                                            __ckpt_registrar.mark_clean();
                                            __ckpt_registrar.save_seen("start", &__ckpt_seen_2);
                                            __ckpt_registrar
                                                .save_seen("ckpt.iterator1", &__ckpt_seen_6);
                                        },
                                    );
                                __ckpt_strip.begin(__ckpt_length);
                            }
                            best.0 = best.0.max(1);
                        }
                        while __ckpt_strip.goes_on() {
                            if __ckpt.runs() {
                                let _ = match ::core::iter::Iterator::next(
                                    &mut __ckpt_iterator1,
                                ) {
                                    ::core::option::Option::Some(__ckpt_item) => __ckpt_item,
                                    ::core::option::Option::None => break '__ckpt_strips,
                                };
                            }
                            __ckpt_strip.counts();
                            best.0 = best.0.max(1);
                        }
                    }
                }
            }
            Some(best)
        };
    }
    let bound = if !__ckpt.runs() && (__ckpt.enters(1u32, 1u32))
        && !__ckpt.passed("bound")
    {
        __ckpt.restore("bound")
    } else {
        bound
    };
    let mut best;
    let mut start;
    if __ckpt.runs() {
        best = (0, 0);
        start = 0;
    } else {
        best = __ckpt.restore("best");
        start = __ckpt.restore("start");
    }
    #[allow(unused_mut, unused_assignments)]
    let mut __ckpt_out_ended_5 = ::core::option::Option::None;
    if __ckpt.runs() || __ckpt.enters(1u32, 1u32) {
        #[allow(unused_mut)]
        let ended = loop {
            if __ckpt.due(1u32) {
                let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 8usize>(&bound);
                let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&best);
                let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 8usize>(&start);
                __ckpt
                    .checkpoint(
                        1u32,
                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                            __ckpt_registrar.required("bound");
                            __ckpt_registrar
                                .parameter(0u32, "bound", __ckpt_seen_0.value());
                            __ckpt_registrar.save_seen("best", &__ckpt_seen_1);
                            __ckpt_registrar.save_seen("start", &__ckpt_seen_2);
                        },
                    );
            }
            start += 1;
            if start == bound {
                break start;
            }
            if start % 2 == 0 {
                continue;
            }
            let (mut at, mut steps) = (start, 0);
            while at != 1 {
                at = if at % 2 == 0 { at / 2 } else { at.checked_mul(3)? + 1 };
                steps += 1;
                if steps > 10_000 {
                    break;
                }
            }
            if steps > best.1 {
                best = (start, steps);
            }
        };
        __ckpt_out_ended_5 = ::core::option::Option::Some(ended);
    }
    #[allow(unused_mut)]
    let mut __ckpt_slot_ended_5 = __ckpt_out_ended_5;
    #[allow(unused_mut, unused_variables, unused_assignments)]
    let mut ended;
    #[allow(unused_assignments)]
    if false {
        ended = ::ckpt::__rt::take(&mut __ckpt_slot_ended_5);
    }
    {
        #[allow(unused_mut, unused_assignments)]
        let mut __ckpt_iterator1;
        if __ckpt.runs() {
            ended = ::ckpt::__rt::take(&mut __ckpt_slot_ended_5);
            __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(0..ended);
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
            if __ckpt.due(2u32) {
                let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 8usize>(&bound);
                let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&best);
                let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 8usize>(&start);
                let __ckpt_seen_6 = ::ckpt::__rt::peek::<_, 8usize>(&__ckpt_iterator1);
                __ckpt
                    .checkpoint(
                        2u32,
                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                            use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                            (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                                .offer(__ckpt_registrar, 0u32, "bound");
                            __ckpt_registrar.save_seen("best", &__ckpt_seen_1);
                            __ckpt_registrar.mark_clean();
                            __ckpt_registrar.save_seen("start", &__ckpt_seen_2);
                            __ckpt_registrar.save_seen("ckpt.iterator1", &__ckpt_seen_6);
                        },
                    );
            }
            best.0 = best.0.max(1);
        }
    }
    Some(best)
}
