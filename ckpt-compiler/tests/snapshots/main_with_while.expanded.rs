//! A `while` loop in the function that opens the session.
#[allow(
    clippy::collection_is_never_read,
    clippy::if_same_then_else,
    clippy::option_if_let_else,
    clippy::useless_let_if_seq,
    clippy::while_let_loop,
)]
/// Sums up to a bound.
pub fn main() {
    fn __ckpt_main() {
        static __CKPT_PLAN: ::ckpt::__rt::FunctionPlan = ::ckpt::__rt::FunctionPlan {
            function: "main",
            module: ::core::module_path!(),
            file: ::core::file!(),
            line: 5u32,
            layout: 5791062913041836951u64,
            source: 13101242022316471366u64,
            attribute: "ckpt::main",
            sites: &[
                ::ckpt::__rt::SitePlan {
                    line: 9u32,
                    column: 15u32,
                    kind: ::ckpt::__rt::SiteKind::Checkpoint,
                    variables: &[
                        ::ckpt::__rt::VariablePlan {
                            key: "bound",
                            line: 6u32,
                            on_demand: false,
                        },
                        ::ckpt::__rt::VariablePlan {
                            key: "sum",
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
                let bound;
                let mut sum;
                if __ckpt.runs() {
                    bound = 100;
                    sum = 0u64;
                } else {
                    bound = __ckpt.restore("bound");
                    sum = __ckpt.restore("sum");
                }
                let __ckpt_lasting = ::ckpt::__rt::lasting();
                loop {
                    if __ckpt.runs() {
                        if !(sum < bound) {
                            break;
                        }
                    }
                    if __ckpt.due(1u32) {
                        let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 8usize>(&bound);
                        let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&sum);
                        __ckpt
                            .checkpoint(
                                1u32,
                                &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                    __ckpt_registrar.mark_lasting();
                                    __ckpt_registrar.save_seen("bound", &__ckpt_seen_0);
                                    __ckpt_registrar.save_seen("sum", &__ckpt_seen_1);
                                },
                            );
                    }
                    sum += 7;
                }
                println!("{sum}");
            };
        }
        let bound;
        let mut sum;
        if __ckpt.runs() {
            bound = 100;
            sum = 0u64;
        } else {
            bound = __ckpt.restore("bound");
            sum = __ckpt.restore("sum");
        }
        let __ckpt_lasting = ::ckpt::__rt::lasting();
        loop {
            if __ckpt.runs() {
                if !(sum < bound) {
                    break;
                }
            }
            if __ckpt.due(1u32) {
                let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 8usize>(&bound);
                let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&sum);
                __ckpt
                    .checkpoint(
                        1u32,
                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                            __ckpt_registrar.mark_lasting();
                            __ckpt_registrar.save_seen("bound", &__ckpt_seen_0);
                            __ckpt_registrar.save_seen("sum", &__ckpt_seen_1);
                        },
                    );
            }
            sum += 7;
        }
        println!("{sum}");
    }
    ::ckpt::__rt::run_main(
        ::ckpt::__rt::Program {
            name: ::core::env!("CARGO_PKG_NAME"),
            version: ::core::env!("CARGO_PKG_VERSION"),
            sources: ::core::option::Option::None,
        },
        __ckpt_main,
    )
}
