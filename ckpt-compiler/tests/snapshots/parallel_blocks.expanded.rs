//! Parallel iterators are cut into blocks, with the site between them.
use rayon::prelude::*;
#[allow(
    clippy::collection_is_never_read,
    clippy::if_same_then_else,
    clippy::option_if_let_else,
    clippy::useless_let_if_seq,
    clippy::while_let_loop,
)]
/// The brightness of rows, and their sum.
pub fn brightness(pixels: &mut [u64], width: usize, gain: u64) -> u64 {
    static __CKPT_PLAN: ::ckpt::__rt::FunctionPlan = ::ckpt::__rt::FunctionPlan {
        function: "brightness",
        module: ::core::module_path!(),
        file: ::core::file!(),
        line: 7u32,
        layout: 4805102193296327837u64,
        source: 16342955805834046931u64,
        attribute: "ckpt::instrument",
        sites: &[
            ::ckpt::__rt::SitePlan {
                line: 8u32,
                column: 46u32,
                kind: ::ckpt::__rt::SiteKind::Checkpoint,
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "pixels",
                        line: 7u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "width",
                        line: 7u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "gain",
                        line: 7u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.size2",
                        line: 1u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.blocks4",
                        line: 8u32,
                        on_demand: false,
                    },
                ],
            },
            ::ckpt::__rt::SitePlan {
                line: 18u32,
                column: 10u32,
                kind: ::ckpt::__rt::SiteKind::Checkpoint,
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "pixels",
                        line: 7u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "width",
                        line: 7u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "gain",
                        line: 7u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.source7",
                        line: 12u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.blocks8",
                        line: 18u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.gathered9",
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
            let width = if !__ckpt.runs() && (__ckpt.enters(1u32, 1u32))
                && !__ckpt.passed("width")
            {
                __ckpt.restore("width")
            } else {
                width
            };
            let gain = if !__ckpt.runs() && (true) && !__ckpt.passed("gain") {
                __ckpt.restore("gain")
            } else {
                gain
            };
            if __ckpt.runs() || __ckpt.enters(1u32, 1u32) {
                {
                    #[allow(unused_mut, unused_assignments)]
                    let __ckpt_size2: usize;
                    #[allow(unused_mut, unused_assignments)]
                    let mut __ckpt_blocks4;
                    if __ckpt.runs() {
                        __ckpt_size2 = width;
                        __ckpt_blocks4 = ::ckpt::__rt::blocks(
                            ::ckpt::__rt::chunks(&pixels[..], __ckpt_size2),
                        );
                    } else {
                        __ckpt_size2 = __ckpt.restore("ckpt.size2");
                        __ckpt_blocks4 = __ckpt.restore("ckpt.blocks4");
                    }
                    loop {
                        if __ckpt.runs() {
                            if !(::ckpt::__rt::goes_on(&mut __ckpt_blocks4)) {
                                break;
                            }
                        }
                        if __ckpt.due(1u32) {
                            let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&width);
                            let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 8usize>(&gain);
                            let __ckpt_seen_3 = ::ckpt::__rt::peek::<
                                _,
                                8usize,
                            >(&__ckpt_size2);
                            let __ckpt_seen_4 = ::ckpt::__rt::peek::<
                                _,
                                8usize,
                            >(&__ckpt_blocks4);
                            __ckpt
                                .checkpoint(
                                    1u32,
                                    &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                        use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                        (&::ckpt::__rt::Probe(&*pixels))
                                            .offer(__ckpt_registrar, 0u32, "pixels");
                                        __ckpt_registrar.required("width");
                                        __ckpt_registrar
                                            .parameter(1u32, "width", __ckpt_seen_1.value());
                                        __ckpt_registrar.required("gain");
                                        __ckpt_registrar
                                            .parameter(2u32, "gain", __ckpt_seen_2.value());
                                        __ckpt_registrar.mark_clean();
                                        __ckpt_registrar.save_seen("ckpt.size2", &__ckpt_seen_3);
                                        __ckpt_registrar.save_seen("ckpt.blocks4", &__ckpt_seen_4);
                                    },
                                );
                        }
                        #[allow(unused_mut)]
                        let __ckpt_block1 = ::ckpt::__rt::block(&mut __ckpt_blocks4);
                        #[allow(unused_mut)]
                        let __ckpt_places3 = ::ckpt::__rt::places_of_chunks(
                            __ckpt_block1,
                            __ckpt_size2,
                            &pixels[..],
                        );
                        pixels[__ckpt_places3]
                            .par_chunks_mut(__ckpt_size2)
                            .enumerate()
                            .map(::ckpt::__rt::numbered(__ckpt_block1))
                            .for_each(|(y, row)| {
                                row.iter_mut().for_each(|pixel| *pixel *= gain + y as u64);
                            });
                    }
                };
            }
            {
                #[allow(unused_mut, unused_assignments)]
                let mut __ckpt_source7;
                #[allow(unused_mut, unused_assignments)]
                let mut __ckpt_blocks8;
                #[allow(unused_mut, unused_assignments)]
                let mut __ckpt_gathered9;
                if __ckpt.runs() {
                    __ckpt_source7 = ::ckpt::__rt::values(0..width);
                    __ckpt_blocks8 = ::ckpt::__rt::blocks(
                        ::ckpt::__rt::count_of_values(&__ckpt_source7),
                    );
                    __ckpt_gathered9 = ::ckpt::__rt::none();
                } else {
                    __ckpt_source7 = __ckpt.restore("ckpt.source7");
                    __ckpt_blocks8 = __ckpt.restore("ckpt.blocks8");
                    __ckpt_gathered9 = __ckpt.restore("ckpt.gathered9");
                }
                loop {
                    if __ckpt.runs() {
                        if !(::ckpt::__rt::goes_on(&mut __ckpt_blocks8)) {
                            break;
                        }
                    }
                    if __ckpt.due(2u32) {
                        let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&width);
                        let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 8usize>(&gain);
                        let __ckpt_seen_10 = ::ckpt::__rt::peek::<
                            _,
                            8usize,
                        >(&__ckpt_source7);
                        let __ckpt_seen_11 = ::ckpt::__rt::peek::<
                            _,
                            8usize,
                        >(&__ckpt_blocks8);
                        let __ckpt_seen_12 = ::ckpt::__rt::peek::<
                            _,
                            8usize,
                        >(&__ckpt_gathered9);
                        __ckpt
                            .checkpoint(
                                2u32,
                                &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                    use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                    (&::ckpt::__rt::Probe(&*pixels))
                                        .offer(__ckpt_registrar, 0u32, "pixels");
                                    (&::ckpt::__rt::Probe(__ckpt_seen_1.value()))
                                        .offer(__ckpt_registrar, 1u32, "width");
                                    __ckpt_registrar.required("gain");
                                    __ckpt_registrar
                                        .parameter(2u32, "gain", __ckpt_seen_2.value());
                                    __ckpt_registrar.save_seen("ckpt.source7", &__ckpt_seen_10);
                                    __ckpt_registrar.save_seen("ckpt.blocks8", &__ckpt_seen_11);
                                    __ckpt_registrar
                                        .save_seen("ckpt.gathered9", &__ckpt_seen_12);
                                },
                            );
                    }
                    #[allow(unused_mut)]
                    let __ckpt_block6 = ::ckpt::__rt::block(&mut __ckpt_blocks8);
                    __ckpt_gathered9 = ::ckpt::__rt::summed(
                        __ckpt_gathered9,
                        ::ckpt::__rt::values_of(&mut __ckpt_source7, __ckpt_block6)
                            .into_par_iter()
                            .map(|x| { pixels[x] % gain })
                            .sum(),
                    );
                }
                ::ckpt::__rt::whole(__ckpt_gathered9)
            }
        };
    }
    let width = if !__ckpt.runs() && (__ckpt.enters(1u32, 1u32))
        && !__ckpt.passed("width")
    {
        __ckpt.restore("width")
    } else {
        width
    };
    let gain = if !__ckpt.runs() && (true) && !__ckpt.passed("gain") {
        __ckpt.restore("gain")
    } else {
        gain
    };
    if __ckpt.runs() || __ckpt.enters(1u32, 1u32) {
        {
            #[allow(unused_mut, unused_assignments)]
            let __ckpt_size2: usize;
            #[allow(unused_mut, unused_assignments)]
            let mut __ckpt_blocks4;
            if __ckpt.runs() {
                __ckpt_size2 = width;
                __ckpt_blocks4 = ::ckpt::__rt::blocks(
                    ::ckpt::__rt::chunks(&pixels[..], __ckpt_size2),
                );
            } else {
                __ckpt_size2 = __ckpt.restore("ckpt.size2");
                __ckpt_blocks4 = __ckpt.restore("ckpt.blocks4");
            }
            loop {
                if __ckpt.runs() {
                    if !(::ckpt::__rt::goes_on(&mut __ckpt_blocks4)) {
                        break;
                    }
                }
                if __ckpt.due(1u32) {
                    let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&width);
                    let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 8usize>(&gain);
                    let __ckpt_seen_3 = ::ckpt::__rt::peek::<_, 8usize>(&__ckpt_size2);
                    let __ckpt_seen_4 = ::ckpt::__rt::peek::<_, 8usize>(&__ckpt_blocks4);
                    __ckpt
                        .checkpoint(
                            1u32,
                            &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                (&::ckpt::__rt::Probe(&*pixels))
                                    .offer(__ckpt_registrar, 0u32, "pixels");
                                __ckpt_registrar.required("width");
                                __ckpt_registrar
                                    .parameter(1u32, "width", __ckpt_seen_1.value());
                                __ckpt_registrar.required("gain");
                                __ckpt_registrar
                                    .parameter(2u32, "gain", __ckpt_seen_2.value());
                                __ckpt_registrar.mark_clean();
                                __ckpt_registrar.save_seen("ckpt.size2", &__ckpt_seen_3);
                                __ckpt_registrar.save_seen("ckpt.blocks4", &__ckpt_seen_4);
                            },
                        );
                }
                #[allow(unused_mut)]
                let __ckpt_block1 = ::ckpt::__rt::block(&mut __ckpt_blocks4);
                #[allow(unused_mut)]
                let __ckpt_places3 = ::ckpt::__rt::places_of_chunks(
                    __ckpt_block1,
                    __ckpt_size2,
                    &pixels[..],
                );
                pixels[__ckpt_places3]
                    .par_chunks_mut(__ckpt_size2)
                    .enumerate()
                    .map(::ckpt::__rt::numbered(__ckpt_block1))
                    .for_each(|(y, row)| {
                        row.iter_mut().for_each(|pixel| *pixel *= gain + y as u64);
                    });
            }
        };
    }
    {
        #[allow(unused_mut, unused_assignments)]
        let mut __ckpt_source7;
        #[allow(unused_mut, unused_assignments)]
        let mut __ckpt_blocks8;
        #[allow(unused_mut, unused_assignments)]
        let mut __ckpt_gathered9;
        if __ckpt.runs() {
            __ckpt_source7 = ::ckpt::__rt::values(0..width);
            __ckpt_blocks8 = ::ckpt::__rt::blocks(
                ::ckpt::__rt::count_of_values(&__ckpt_source7),
            );
            __ckpt_gathered9 = ::ckpt::__rt::none();
        } else {
            __ckpt_source7 = __ckpt.restore("ckpt.source7");
            __ckpt_blocks8 = __ckpt.restore("ckpt.blocks8");
            __ckpt_gathered9 = __ckpt.restore("ckpt.gathered9");
        }
        loop {
            if __ckpt.runs() {
                if !(::ckpt::__rt::goes_on(&mut __ckpt_blocks8)) {
                    break;
                }
            }
            if __ckpt.due(2u32) {
                let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&width);
                let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 8usize>(&gain);
                let __ckpt_seen_10 = ::ckpt::__rt::peek::<_, 8usize>(&__ckpt_source7);
                let __ckpt_seen_11 = ::ckpt::__rt::peek::<_, 8usize>(&__ckpt_blocks8);
                let __ckpt_seen_12 = ::ckpt::__rt::peek::<_, 8usize>(&__ckpt_gathered9);
                __ckpt
                    .checkpoint(
                        2u32,
                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                            use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                            (&::ckpt::__rt::Probe(&*pixels))
                                .offer(__ckpt_registrar, 0u32, "pixels");
                            (&::ckpt::__rt::Probe(__ckpt_seen_1.value()))
                                .offer(__ckpt_registrar, 1u32, "width");
                            __ckpt_registrar.required("gain");
                            __ckpt_registrar
                                .parameter(2u32, "gain", __ckpt_seen_2.value());
                            __ckpt_registrar.save_seen("ckpt.source7", &__ckpt_seen_10);
                            __ckpt_registrar.save_seen("ckpt.blocks8", &__ckpt_seen_11);
                            __ckpt_registrar
                                .save_seen("ckpt.gathered9", &__ckpt_seen_12);
                        },
                    );
            }
            #[allow(unused_mut)]
            let __ckpt_block6 = ::ckpt::__rt::block(&mut __ckpt_blocks8);
            __ckpt_gathered9 = ::ckpt::__rt::summed(
                __ckpt_gathered9,
                ::ckpt::__rt::values_of(&mut __ckpt_source7, __ckpt_block6)
                    .into_par_iter()
                    .map(|x| { pixels[x] % gain })
                    .sum(),
            );
        }
        ::ckpt::__rt::whole(__ckpt_gathered9)
    }
}
#[allow(
    clippy::collection_is_never_read,
    clippy::if_same_then_else,
    clippy::option_if_let_else,
    clippy::useless_let_if_seq,
    clippy::while_let_loop,
)]
/// Rows of an image, from the last to the first.
pub fn rows(height: u32, width: u32) -> Vec<u32> {
    static __CKPT_PLAN: ::ckpt::__rt::FunctionPlan = ::ckpt::__rt::FunctionPlan {
        function: "rows",
        module: ::core::module_path!(),
        file: ::core::file!(),
        line: 23u32,
        layout: 7070151643309765622u64,
        source: 9720014772414519324u64,
        attribute: "ckpt::instrument",
        sites: &[
            ::ckpt::__rt::SitePlan {
                line: 31u32,
                column: 10u32,
                kind: ::ckpt::__rt::SiteKind::Checkpoint,
                variables: &[
                    ::ckpt::__rt::VariablePlan {
                        key: "height",
                        line: 23u32,
                        on_demand: true,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "width",
                        line: 23u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.source4",
                        line: 24u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.size2",
                        line: 24u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.blocks5",
                        line: 31u32,
                        on_demand: false,
                    },
                    ::ckpt::__rt::VariablePlan {
                        key: "ckpt.gathered6",
                        line: 31u32,
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
            let width = if !__ckpt.runs() && (true) && !__ckpt.passed("width") {
                __ckpt.restore("width")
            } else {
                width
            };
            {
                #[allow(unused_mut, unused_assignments)]
                let mut __ckpt_source4;
                #[allow(unused_mut, unused_assignments)]
                let __ckpt_size2: u64;
                #[allow(unused_mut, unused_assignments)]
                let mut __ckpt_blocks5;
                #[allow(unused_mut, unused_assignments)]
                let mut __ckpt_gathered6;
                if __ckpt.runs() {
                    __ckpt_source4 = ::ckpt::__rt::values(0..height);
                    __ckpt_size2 = ::ckpt::__rt::count_of_values(&__ckpt_source4);
                    __ckpt_blocks5 = ::ckpt::__rt::blocks(__ckpt_size2);
                    __ckpt_gathered6 = ::ckpt::__rt::none();
                } else {
                    __ckpt_source4 = __ckpt.restore("ckpt.source4");
                    __ckpt_size2 = __ckpt.restore("ckpt.size2");
                    __ckpt_blocks5 = __ckpt.restore("ckpt.blocks5");
                    __ckpt_gathered6 = __ckpt.restore("ckpt.gathered6");
                }
                loop {
                    if __ckpt.runs() {
                        if !(::ckpt::__rt::goes_on(&mut __ckpt_blocks5)
                            && !::ckpt::__rt::is_settled(&__ckpt_gathered6))
                        {
                            break;
                        }
                    }
                    if __ckpt.due(1u32) {
                        let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 8usize>(&height);
                        let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&width);
                        let __ckpt_seen_2 = ::ckpt::__rt::peek::<
                            _,
                            8usize,
                        >(&__ckpt_source4);
                        let __ckpt_seen_3 = ::ckpt::__rt::peek::<
                            _,
                            8usize,
                        >(&__ckpt_size2);
                        let __ckpt_seen_4 = ::ckpt::__rt::peek::<
                            _,
                            8usize,
                        >(&__ckpt_blocks5);
                        let __ckpt_seen_5 = ::ckpt::__rt::peek::<
                            _,
                            8usize,
                        >(&__ckpt_gathered6);
                        __ckpt
                            .checkpoint(
                                1u32,
                                &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                                    use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                                    (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                                        .offer(__ckpt_registrar, 0u32, "height");
                                    __ckpt_registrar.required("width");
                                    __ckpt_registrar
                                        .parameter(1u32, "width", __ckpt_seen_1.value());
                                    __ckpt_registrar.save_seen("ckpt.source4", &__ckpt_seen_2);
                                    __ckpt_registrar.mark_clean();
                                    __ckpt_registrar.save_seen("ckpt.size2", &__ckpt_seen_3);
                                    __ckpt_registrar.save_seen("ckpt.blocks5", &__ckpt_seen_4);
                                    __ckpt_registrar
                                        .save_seen("ckpt.gathered6", &__ckpt_seen_5);
                                },
                            );
                    }
                    #[allow(unused_mut)]
                    let __ckpt_block1 = ::ckpt::__rt::block(&mut __ckpt_blocks5);
                    #[allow(unused_mut)]
                    let __ckpt_block3 = ::ckpt::__rt::turned(
                        __ckpt_block1,
                        __ckpt_size2,
                    );
                    __ckpt_gathered6 = ::ckpt::__rt::joined(
                        __ckpt_gathered6,
                        ::ckpt::__rt::values_from_the_end(
                                &mut __ckpt_source4,
                                __ckpt_block3,
                            )
                            .into_par_iter()
                            .rev()
                            .flat_map(|y| {
                                (0..width)
                                    .into_par_iter()
                                    .map(|x| x * y)
                                    .collect::<Vec<u32>>()
                            })
                            .collect(),
                    );
                }
                ::ckpt::__rt::whole(__ckpt_gathered6)
            }
        };
    }
    let width = if !__ckpt.runs() && (true) && !__ckpt.passed("width") {
        __ckpt.restore("width")
    } else {
        width
    };
    {
        #[allow(unused_mut, unused_assignments)]
        let mut __ckpt_source4;
        #[allow(unused_mut, unused_assignments)]
        let __ckpt_size2: u64;
        #[allow(unused_mut, unused_assignments)]
        let mut __ckpt_blocks5;
        #[allow(unused_mut, unused_assignments)]
        let mut __ckpt_gathered6;
        if __ckpt.runs() {
            __ckpt_source4 = ::ckpt::__rt::values(0..height);
            __ckpt_size2 = ::ckpt::__rt::count_of_values(&__ckpt_source4);
            __ckpt_blocks5 = ::ckpt::__rt::blocks(__ckpt_size2);
            __ckpt_gathered6 = ::ckpt::__rt::none();
        } else {
            __ckpt_source4 = __ckpt.restore("ckpt.source4");
            __ckpt_size2 = __ckpt.restore("ckpt.size2");
            __ckpt_blocks5 = __ckpt.restore("ckpt.blocks5");
            __ckpt_gathered6 = __ckpt.restore("ckpt.gathered6");
        }
        loop {
            if __ckpt.runs() {
                if !(::ckpt::__rt::goes_on(&mut __ckpt_blocks5)
                    && !::ckpt::__rt::is_settled(&__ckpt_gathered6))
                {
                    break;
                }
            }
            if __ckpt.due(1u32) {
                let __ckpt_seen_0 = ::ckpt::__rt::peek::<_, 8usize>(&height);
                let __ckpt_seen_1 = ::ckpt::__rt::peek::<_, 8usize>(&width);
                let __ckpt_seen_2 = ::ckpt::__rt::peek::<_, 8usize>(&__ckpt_source4);
                let __ckpt_seen_3 = ::ckpt::__rt::peek::<_, 8usize>(&__ckpt_size2);
                let __ckpt_seen_4 = ::ckpt::__rt::peek::<_, 8usize>(&__ckpt_blocks5);
                let __ckpt_seen_5 = ::ckpt::__rt::peek::<_, 8usize>(&__ckpt_gathered6);
                __ckpt
                    .checkpoint(
                        1u32,
                        &|__ckpt_registrar: &mut ::ckpt::__rt::Registrar| {
                            use ::ckpt::__rt::{OfferSaved as _, OfferNothing as _};
                            (&::ckpt::__rt::Probe(__ckpt_seen_0.value()))
                                .offer(__ckpt_registrar, 0u32, "height");
                            __ckpt_registrar.required("width");
                            __ckpt_registrar
                                .parameter(1u32, "width", __ckpt_seen_1.value());
                            __ckpt_registrar.save_seen("ckpt.source4", &__ckpt_seen_2);
                            __ckpt_registrar.mark_clean();
                            __ckpt_registrar.save_seen("ckpt.size2", &__ckpt_seen_3);
                            __ckpt_registrar.save_seen("ckpt.blocks5", &__ckpt_seen_4);
                            __ckpt_registrar.save_seen("ckpt.gathered6", &__ckpt_seen_5);
                        },
                    );
            }
            #[allow(unused_mut)]
            let __ckpt_block1 = ::ckpt::__rt::block(&mut __ckpt_blocks5);
            #[allow(unused_mut)]
            let __ckpt_block3 = ::ckpt::__rt::turned(__ckpt_block1, __ckpt_size2);
            __ckpt_gathered6 = ::ckpt::__rt::joined(
                __ckpt_gathered6,
                ::ckpt::__rt::values_from_the_end(&mut __ckpt_source4, __ckpt_block3)
                    .into_par_iter()
                    .rev()
                    .flat_map(|y| {
                        (0..width).into_par_iter().map(|x| x * y).collect::<Vec<u32>>()
                    })
                    .collect(),
            );
        }
        ::ckpt::__rt::whole(__ckpt_gathered6)
    }
}
