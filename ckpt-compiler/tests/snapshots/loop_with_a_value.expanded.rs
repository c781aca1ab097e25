//! `let x = loop { .. break value }`, `let else`, and a deferred initialisation.
#[allow(
    clippy::collection_is_never_read,
    clippy::if_same_then_else,
    clippy::option_if_let_else,
    clippy::useless_let_if_seq,
    clippy::while_let_loop,
)]
/// Counts down.
pub fn count_down(from: Option<u32>) -> u32 {
    static __CKPT_PLAN: ::ckpt::__rt::FunctionPlan = ::ckpt::__rt::FunctionPlan {
        function: "count_down",
        module: ::core::module_path!(),
        file: ::core::file!(),
        line: 5u32,
        layout: 12146230839339427406u64,
        source: 8424413093076378078u64,
        attribute: "ckpt::instrument",
        sites: &[
            ::ckpt::__rt::SitePlan {
                line: 14u32,
                column: 15u32,
                kind: ::ckpt::__rt::SiteKind::Checkpoint,
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "left",
                        line: 6u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "name",
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
            let mut left;
            #[allow(unused_mut, unused_assignments)]
            let mut name;
            if __ckpt.runs() {
                let Some(__ckpt_inner_left) = from else { return 0 };
                left = __ckpt_inner_left;
                if left > 3 {
                    name = "many";
                } else {
                    name = "few";
                }
            } else {
                {
                    #[allow(unused_imports)]
                    use ::ckpt::__rt::{PutAwayAny as _, PutAwayInert as _};
                    (&::ckpt::__rt::UsedUp::new(from)).put_away();
                }
                left = __ckpt.restore("left");
                name = __ckpt.restore("name");
            }
            let rounds = loop {
                if __ckpt.due(1u32) {
                    let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&left);
                    let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 8usize>(&name);
                    __ckpt
                        .checkpoint(
                            1u32,
                            &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                __ckpt_registrar.save_seen("left", &__ckpt_seen_1);
                                __ckpt_registrar.mark_clean();
                                __ckpt_registrar.save_seen("name", &__ckpt_seen_2);
                            },
                        );
                }
                if left == 0 {
                    break left + 1;
                }
                left -= 1;
            };
            println!("{name}");
            rounds
        };
    }
    let mut left;
    #[allow(unused_mut, unused_assignments)]
    let mut name;
    if __ckpt.runs() {
        let Some(__ckpt_inner_left) = from else { return 0 };
        left = __ckpt_inner_left;
        if left > 3 {
            name = "many";
        } else {
            name = "few";
        }
    } else {
        {
            #[allow(unused_imports)]
            use ::ckpt::__rt::{PutAwayAny as _, PutAwayInert as _};
            (&::ckpt::__rt::UsedUp::new(from)).put_away();
        }
        left = __ckpt.restore("left");
        name = __ckpt.restore("name");
    }
    let rounds = loop {
        if __ckpt.due(1u32) {
            let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&left);
            let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 8usize>(&name);
            __ckpt
                .checkpoint(
                    1u32,
                    &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                        __ckpt_registrar.save_seen("left", &__ckpt_seen_1);
                        __ckpt_registrar.mark_clean();
                        __ckpt_registrar.save_seen("name", &__ckpt_seen_2);
                    },
                );
        }
        if left == 0 {
            break left + 1;
        }
        left -= 1;
    };
    println!("{name}");
    rounds
}
