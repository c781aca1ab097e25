//! A pattern that binds references is matched again at a restart.
/// What a body is made of.
pub enum Body {
    /// Points.
    Cloud(Vec<f64>),
    /// Nothing.
    Empty,
}
#[allow(
    clippy::collection_is_never_read,
    clippy::if_same_then_else,
    clippy::option_if_let_else,
    clippy::useless_let_if_seq,
    clippy::while_let_loop,
)]
/// The sum over a body.
pub fn mass(body: &Body) -> f64 {
    static __CKPT_PLAN: ::ckpt::__rt::FunctionPlan = ::ckpt::__rt::FunctionPlan {
        function: "mass",
        module: ::core::module_path!(),
        file: ::core::file!(),
        line: 13u32,
        layout: 8817460484438651839u64,
        source: 14896249159820061695u64,
        attribute: "ckpt::instrument",
        sites: &[
            ::ckpt::__rt::SitePlan {
                line: 18u32,
                column: 23u32,
                kind: ::ckpt::__rt::SiteKind::Checkpoint,
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "body",
                        line: 13u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "total",
                        line: 14u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.iterator1",
                        line: 17u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "index",
                        line: 17u32,
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
            let mut total;
            if __ckpt.runs() {
                total = 0.0;
            } else {
                total = __ckpt.restore("total");
            }
            match body {
                Body::Cloud(points) => {
                    if !(__ckpt.runs() || __ckpt.enters(1u32, 1u32)) {
                        __ckpt.lost("another arm of a `match` is taken than before")
                    }
                    {
                        #[allow(unused_mut, unused_assignments)]
                        let mut __ckpt_iterator1;
                        if __ckpt.runs() {
                            __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(
                                0..points.len(),
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
                                let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&total);
                                let __ckpt_seen_3 = ::ckpt::__rt::peek::<
                                    _,
                                    8usize,
                                >(&__ckpt_iterator1);
                                let __ckpt_seen_5 = ::ckpt::__rt::peek::<_, 8usize>(&index);
                                __ckpt
                                    .checkpoint(
                                        1u32,
                                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                            use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                            (&::ckpt::__rt::Probe(&*body))
                                                .offer(__ckpt_registrar, 0u32, "body");
                                            __ckpt_registrar.save_seen("total", &__ckpt_seen_1);
                                            __ckpt_registrar
                                                .save_seen("ckpt.iterator1", &__ckpt_seen_3);
                                            __ckpt_registrar.save_seen("index", &__ckpt_seen_5);
                                        },
                                    );
                            }
                            total += points[index];
                        }
                    }
                }
                Body::Empty => {
                    if !__ckpt.runs() {
                        __ckpt.lost("another arm of a `match` is taken than before")
                    }
                    total = -1.0;
                }
            }
            total
        };
    }
    let mut total;
    if __ckpt.runs() {
        total = 0.0;
    } else {
        total = __ckpt.restore("total");
    }
    match body {
        Body::Cloud(points) => {
            if !(__ckpt.runs() || __ckpt.enters(1u32, 1u32)) {
                __ckpt.lost("another arm of a `match` is taken than before")
            }
            {
                #[allow(unused_mut, unused_assignments)]
                let mut __ckpt_iterator1;
                if __ckpt.runs() {
                    __ckpt_iterator1 = ::core::iter::IntoIterator::into_iter(
                        0..points.len(),
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
                        let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&total);
                        let __ckpt_seen_3 = ::ckpt::__rt::peek::<
                            _,
                            8usize,
                        >(&__ckpt_iterator1);
                        let __ckpt_seen_5 = ::ckpt::__rt::peek::<_, 8usize>(&index);
                        __ckpt
                            .checkpoint(
                                1u32,
                                &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                    use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                    (&::ckpt::__rt::Probe(&*body))
                                        .offer(__ckpt_registrar, 0u32, "body");
                                    __ckpt_registrar.save_seen("total", &__ckpt_seen_1);
                                    __ckpt_registrar
                                        .save_seen("ckpt.iterator1", &__ckpt_seen_3);
                                    __ckpt_registrar.save_seen("index", &__ckpt_seen_5);
                                },
                            );
                    }
                    total += points[index];
                }
            }
        }
        Body::Empty => {
            if !__ckpt.runs() {
                __ckpt.lost("another arm of a `match` is taken than before")
            }
            total = -1.0;
        }
    }
    total
}
