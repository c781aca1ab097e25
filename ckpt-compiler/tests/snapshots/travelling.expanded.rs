//! A variable that has no value at a site travels as an `Option`.
#[allow(
    clippy::collection_is_never_read,
    clippy::if_same_then_else,
    clippy::option_if_let_else,
    clippy::useless_let_if_seq,
    clippy::while_let_loop,
)]
/// Rewrites a text, round by round.
pub fn rewritten(rounds: u64) -> String {
    static __CKPT_PLAN: ::ckpt::__rt::FunctionPlan = ::ckpt::__rt::FunctionPlan {
        function: "rewritten",
        module: ::core::module_path!(),
        file: ::core::file!(),
        line: 5u32,
        layout: 8212336601698610087u64,
        source: 16538179806562977343u64,
        attribute: "ckpt::instrument",
        sites: &[
            ::ckpt::__rt::SitePlan {
                line: 13u32,
                column: 15u32,
                kind: ::ckpt::__rt::SiteKind::Checkpoint,
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "rounds",
                        line: 5u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.iterator1",
                        line: 7u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "round",
                        line: 7u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "old",
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
            #[allow(unused_mut, unused_assignments)]
            let mut __ckpt_out_text_1 = ::core::option::Option::None;
            if __ckpt.runs() {
                #[allow(unused_mut)]
                let mut text = String::from("a");
                __ckpt_out_text_1 = ::core::option::Option::Some(text);
            }
            #[allow(unused_mut)]
            let mut __ckpt_slot_text_1 = __ckpt_out_text_1;
            #[allow(unused_mut, unused_variables, unused_assignments)]
            let mut text;
            #[allow(unused_assignments)]
            if false {
                text = ::ckpt::__rt::take(&mut __ckpt_slot_text_1);
            }
            {
                #[allow(unused_mut, unused_assignments)]
                let mut __ckpt_iterator1;
                if __ckpt.runs() {
                    __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(0..rounds);
                } else {
                    __ckpt_iterator1 = __ckpt.restore("ckpt.iterator1");
                }
                loop {
                    let round;
                    let old;
                    if __ckpt.runs() {
                        text = ::ckpt::__rt::take(&mut __ckpt_slot_text_1);
                        round = match ::core::iter::Iterator::next(
                            &mut __ckpt_iterator1,
                        ) {
                            ::core::option::Option::Some(__ckpt_item) => __ckpt_item,
                            ::core::option::Option::None => {
                                __ckpt_slot_text_1 = ::core::option::Option::Some(text);
                                break;
                            }
                        };
                        text.push('b');
                        if round % 3 == 0 {
                            {
                                __ckpt_slot_text_1 = ::core::option::Option::Some(text);
                                continue;
                            };
                        }
                        old = text;
                    } else {
                        round = __ckpt.restore("round");
                        old = __ckpt.restore("old");
                    }
                    if __ckpt.due(1u32) {
                        let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 8usize>(&rounds);
                        let __ckpt_seen_2 = ::ckpt::__rt::peek::<
                            _,
                            8usize,
                        >(&__ckpt_iterator1);
                        let __ckpt_seen_4 = ::ckpt::__rt::peek::<_, 8usize>(&round);
                        let __ckpt_seen_5 = ::ckpt::__rt::peek::<_, 8usize>(&old);
                        __ckpt
                            .checkpoint(
                                1u32,
                                &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                    use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                    (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                                        .offer(__ckpt_registrar, 0u32, "rounds");
                                    __ckpt_registrar
                                        .save_seen("ckpt.iterator1", &__ckpt_seen_2);
                                    __ckpt_registrar.save_seen("round", &__ckpt_seen_4);
                                    __ckpt_registrar.save_seen("old", &__ckpt_seen_5);
                                },
                            );
                    }
                    text = format!("{old}{round}");
                    __ckpt_slot_text_1 = ::core::option::Option::Some(text);
                }
            }
            text = ::ckpt::__rt::take(&mut __ckpt_slot_text_1);
            text
        };
    }
    #[allow(unused_mut, unused_assignments)]
    let mut __ckpt_out_text_1 = ::core::option::Option::None;
    if __ckpt.runs() {
        #[allow(unused_mut)]
        let mut text = String::from("a");
        __ckpt_out_text_1 = ::core::option::Option::Some(text);
    }
    #[allow(unused_mut)]
    let mut __ckpt_slot_text_1 = __ckpt_out_text_1;
    #[allow(unused_mut, unused_variables, unused_assignments)]
    let mut text;
    #[allow(unused_assignments)]
    if false {
        text = ::ckpt::__rt::take(&mut __ckpt_slot_text_1);
    }
    {
        #[allow(unused_mut, unused_assignments)]
        let mut __ckpt_iterator1;
        if __ckpt.runs() {
            __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(0..rounds);
        } else {
            __ckpt_iterator1 = __ckpt.restore("ckpt.iterator1");
        }
        loop {
            let round;
            let old;
            if __ckpt.runs() {
                text = ::ckpt::__rt::take(&mut __ckpt_slot_text_1);
                round = match ::core::iter::Iterator::next(&mut __ckpt_iterator1) {
                    ::core::option::Option::Some(__ckpt_item) => __ckpt_item,
                    ::core::option::Option::None => {
                        __ckpt_slot_text_1 = ::core::option::Option::Some(text);
                        break;
                    }
                };
                text.push('b');
                if round % 3 == 0 {
                    {
                        __ckpt_slot_text_1 = ::core::option::Option::Some(text);
                        continue;
                    };
                }
                old = text;
            } else {
                round = __ckpt.restore("round");
                old = __ckpt.restore("old");
            }
            if __ckpt.due(1u32) {
                let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 8usize>(&rounds);
                let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 8usize>(&__ckpt_iterator1);
                let __ckpt_seen_4 = ::ckpt::__rt::peek::<_, 8usize>(&round);
                let __ckpt_seen_5 = ::ckpt::__rt::peek::<_, 8usize>(&old);
                __ckpt
                    .checkpoint(
                        1u32,
                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                            use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                            (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                                .offer(__ckpt_registrar, 0u32, "rounds");
                            __ckpt_registrar.save_seen("ckpt.iterator1", &__ckpt_seen_2);
                            __ckpt_registrar.save_seen("round", &__ckpt_seen_4);
                            __ckpt_registrar.save_seen("old", &__ckpt_seen_5);
                        },
                    );
            }
            text = format!("{old}{round}");
            __ckpt_slot_text_1 = ::core::option::Option::Some(text);
        }
    }
    text = ::ckpt::__rt::take(&mut __ckpt_slot_text_1);
    text
}
