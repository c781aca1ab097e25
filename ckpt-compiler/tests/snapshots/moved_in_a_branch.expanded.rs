//! A value that is gone at one site and needed after another travels as an `Option`.
fn length(list: Vec<u8>) -> usize {
    list.len()
}
/// One of two ways.
pub fn either(early: bool) -> usize {
    static __CKPT_PLAN: ::ckpt::__rt::FunctionPlan = ::ckpt::__rt::FunctionPlan {
        function: "either",
        module: ::core::module_path!(),
        file: ::core::file!(),
        line: 9u32,
        layout: 7104198965212714353u64,
        source: 15593173126217003897u64,
        attribute: "ckpt::instrument",
        sites: &[
            ::ckpt::__rt::SitePlan {
                line: 13u32,
                column: 15u32,
                kind: ::ckpt::__rt::SiteKind::Checkpoint,
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "early",
                        line: 9u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "n",
                        line: 12u32,
                        on_demand: false,
                    },
                ],
            },
            ::ckpt::__rt::SitePlan {
                line: 16u32,
                column: 11u32,
                kind: ::ckpt::__rt::SiteKind::Checkpoint,
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "early",
                        line: 9u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "list",
                        line: 10u32,
                        on_demand: false,
                    },
                ],
            },
        ],
    };
    let mut __ckpt = ::ckpt::__rt::Frame::enter(&__CKPT_PLAN);
    #[allow(unused_assignments)]
    let mut __ckpt_slot_list_1 = ::core::option::Option::None;
    #[allow(unused_mut, unused_assignments)]
    let __ckpt_condition1;
    if __ckpt.runs() {
        #[allow(unused_mut)]
        let list = vec![1, 2, 3];
        __ckpt_condition1 = early;
        __ckpt_slot_list_1 = ::core::option::Option::Some(list);
    } else {
        if __ckpt.enters(2u32, 2u32) {
            __ckpt_slot_list_1 = ::core::option::Option::Some(__ckpt.restore("list"));
        }
        __ckpt_condition1 = __ckpt.enters(1u32, 1u32);
    }
    if __ckpt.runs() || __ckpt.enters(1u32, 1u32) {
        if __ckpt_condition1 {
            let n;
            if __ckpt.runs() {
                #[allow(unused_mut)]
                let mut list = ::ckpt::__rt::take(&mut __ckpt_slot_list_1);
                n = length(list);
                __ckpt_slot_list_1 = ::core::option::Option::Some(list);
            } else {
                n = __ckpt.restore("n");
            }
            if __ckpt.due(1u32) {
                __ckpt
                    .checkpoint(
                        1u32,
                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                            use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                            (&::ckpt::__rt::Probe(&early))
                                .offer(__ckpt_registrar, 0u32, "early");
                            __ckpt_registrar.save("n", &n);
                        },
                    );
            }
            return n;
        }
    }
    #[allow(unused_mut)]
    let mut list = ::ckpt::__rt::take(&mut __ckpt_slot_list_1);
    if __ckpt.due(2u32) {
        __ckpt
            .checkpoint(
                2u32,
                &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                    use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                    (&::ckpt::__rt::Probe(&early))
                        .offer(__ckpt_registrar, 0u32, "early");
                    __ckpt_registrar.save("list", &list);
                },
            );
    }
    #[allow(unused_mut)]
    let mut list = ::ckpt::__rt::take(&mut __ckpt_slot_list_1);
    length(list) + 1
}
