//! A variable that is shadowed where a site needs it is saved through a reference.
#[allow(
    clippy::collection_is_never_read,
    clippy::if_same_then_else,
    clippy::option_if_let_else,
    clippy::useless_let_if_seq,
    clippy::while_let_loop,
)]
/// Doubles a text in two ways.
pub fn twice(text: &str) -> String {
    static __CKPT_PLAN: ::ckpt::__rt::FunctionPlan = ::ckpt::__rt::FunctionPlan {
        function: "twice",
        module: ::core::module_path!(),
        file: ::core::file!(),
        line: 5u32,
        layout: 12290208676716893817u64,
        source: 7859231897011331811u64,
        attribute: "ckpt::instrument",
        sites: &[
            ::ckpt::__rt::SitePlan {
                line: 10u32,
                column: 15u32,
                kind: ::ckpt::__rt::SiteKind::Checkpoint,
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "text",
                        line: 6u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "longer",
                        line: 7u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.iterator1",
                        line: 8u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "text#2",
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
            let __ckpt_out_text_1;
            let __ckpt_out_longer_2;
            if __ckpt.runs() {
                #[allow(unused_mut)]
                let text = text.to_owned();
                #[allow(unused_mut)]
                let mut longer = String::new();
                __ckpt_out_text_1 = text;
                __ckpt_out_longer_2 = longer;
            } else {
                __ckpt_out_text_1 = __ckpt.restore("text");
                __ckpt_out_longer_2 = __ckpt.restore("longer");
            }
            let text = __ckpt_out_text_1;
            let mut longer = __ckpt_out_longer_2;
            {
                #[allow(unused_mut, unused_assignments)]
                let mut __ckpt_iterator1;
                if __ckpt.runs() {
                    __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(0..2);
                } else {
                    __ckpt_iterator1 = __ckpt.restore("ckpt.iterator1");
                }
                loop {
                    let round;
                    let __ckpt_out_text_6;
                    if __ckpt.runs() {
                        round = match ::core::iter::Iterator::next(
                            &mut __ckpt_iterator1,
                        ) {
                            ::core::option::Option::Some(__ckpt_item) => __ckpt_item,
                            ::core::option::Option::None => break,
                        };
                        let __ckpt_dead_round_5 = ::ckpt::__rt::Dead::of(&round);
                        #[allow(unused_mut)]
                        let text = format!("{text}{round}");
                        ::ckpt::__rt::check_dead!(__ckpt_dead_round_5);
                        __ckpt_out_text_6 = text;
                    } else {
                        __ckpt_out_text_6 = __ckpt.restore("text#2");
                    }
                    let __ckpt_outer_text_1 = &text;
                    let text = __ckpt_out_text_6;
                    if __ckpt.due(1u32) {
                        let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 8usize>(&longer);
                        let __ckpt_seen_3 = ::ckpt::__rt::peek::<
                            _,
                            8usize,
                        >(&__ckpt_iterator1);
                        let __ckpt_seen_6 = ::ckpt::__rt::peek::<_, 8usize>(&text);
                        __ckpt
                            .checkpoint(
                                1u32,
                                &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                    __ckpt_registrar.mark_clean();
                                    __ckpt_registrar.save("text", __ckpt_outer_text_1);
                                    __ckpt_registrar.save_seen("longer", &__ckpt_seen_2);
                                    __ckpt_registrar
                                        .save_seen("ckpt.iterator1", &__ckpt_seen_3);
                                    __ckpt_registrar.save_seen("text#2", &__ckpt_seen_6);
                                },
                            );
                    }
                    longer += &text;
                }
            }
            text + &longer
        };
    }
    let __ckpt_out_text_1;
    let __ckpt_out_longer_2;
    if __ckpt.runs() {
        #[allow(unused_mut)]
        let text = text.to_owned();
        #[allow(unused_mut)]
        let mut longer = String::new();
        __ckpt_out_text_1 = text;
        __ckpt_out_longer_2 = longer;
    } else {
        __ckpt_out_text_1 = __ckpt.restore("text");
        __ckpt_out_longer_2 = __ckpt.restore("longer");
    }
    let text = __ckpt_out_text_1;
    let mut longer = __ckpt_out_longer_2;
    {
        #[allow(unused_mut, unused_assignments)]
        let mut __ckpt_iterator1;
        if __ckpt.runs() {
            __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(0..2);
        } else {
            __ckpt_iterator1 = __ckpt.restore("ckpt.iterator1");
        }
        loop {
            let round;
            let __ckpt_out_text_6;
            if __ckpt.runs() {
                round = match ::core::iter::Iterator::next(&mut __ckpt_iterator1) {
                    ::core::option::Option::Some(__ckpt_item) => __ckpt_item,
                    ::core::option::Option::None => break,
                };
                let __ckpt_dead_round_5 = ::ckpt::__rt::Dead::of(&round);
                #[allow(unused_mut)]
                let text = format!("{text}{round}");
                ::ckpt::__rt::check_dead!(__ckpt_dead_round_5);
                __ckpt_out_text_6 = text;
            } else {
                __ckpt_out_text_6 = __ckpt.restore("text#2");
            }
            let __ckpt_outer_text_1 = &text;
            let text = __ckpt_out_text_6;
            if __ckpt.due(1u32) {
                let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 8usize>(&longer);
                let __ckpt_seen_3 = ::ckpt::__rt::peek::<_, 8usize>(&__ckpt_iterator1);
                let __ckpt_seen_6 = ::ckpt::__rt::peek::<_, 8usize>(&text);
                __ckpt
                    .checkpoint(
                        1u32,
                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                            __ckpt_registrar.mark_clean();
                            __ckpt_registrar.save("text", __ckpt_outer_text_1);
                            __ckpt_registrar.save_seen("longer", &__ckpt_seen_2);
                            __ckpt_registrar.save_seen("ckpt.iterator1", &__ckpt_seen_3);
                            __ckpt_registrar.save_seen("text#2", &__ckpt_seen_6);
                        },
                    );
            }
            longer += &text;
        }
    }
    text + &longer
}
