//! The shapes, grouped by what surrounds the site.
//!
//! A shape is a function without arguments that prints a trace before and after each of its sites. Every line of the
//! trace depends on all that the shape has computed so far, so a value restored wrongly shows in the next line.

// The shapes are code as people write it. What ckpt makes of them has to be free of every other warning.
#![allow(
    clippy::assign_op_pattern,
    clippy::collapsible_if,
    clippy::explicit_auto_deref,
    clippy::lines_filter_map_ok,
    clippy::manual_is_multiple_of,
    clippy::mut_range_bound,
    clippy::needless_borrows_for_generic_args,
    clippy::needless_late_init,
    clippy::needless_question_mark,
    clippy::needless_range_loop,
    clippy::needless_return,
    clippy::never_loop,
    clippy::redundant_closure_call,
    clippy::replace_box,
    clippy::type_complexity,
    clippy::useless_vec,
    clippy::while_let_loop
)]

mod again;
mod bindings;
mod blocks;
mod bodies;
mod borrows;
mod branches;
mod calls;
mod chains;
mod closures;
mod effects;
mod exits;
mod files;
mod generics;
mod guards;
mod inference;
mod iterators;
mod loops;
mod macros;
mod matches;
mod methods;
mod mixes;
mod names;
mod objects;
mod operands;
mod operators;
mod owners;
mod parallel;
mod parameters;
mod patterns;
mod phases;
mod recursion;
mod refills;
mod statics;
mod threads;
mod through_serde;
mod travelling;
mod unwritten;
mod used_up;
mod values;

/// A function to run, and the name it is asked for by.
pub type Shape = (&'static str, fn());

/// `shapes!(theme: a, b)` lists the functions of the module `theme` by name.
macro_rules! shapes {
    ($($theme:ident: $($shape:ident),+ $(,)?;)+) => {
        &[$($((concat!(stringify!($theme), "::", stringify!($shape)), $theme::$shape as fn())),+),+]
    };
}

/// The shape named on the command line; `--list` prints all names instead.
pub fn chosen() -> Option<fn()> {
    let argument = std::env::args().nth(1).unwrap_or_default();
    if argument == "--list" {
        SHAPES.iter().for_each(|(name, _)| println!("{name}"));
        return None;
    }
    let found = SHAPES
        .iter()
        .find(|(name, _)| *name == argument)
        .map(|(_, shape)| *shape);
    if found.is_none() {
        eprintln!("no shape `{argument}`: see --list");
        std::process::exit(2);
    }
    found
}

/// The next number of a small generator: shapes take their data from it.
pub fn draw(seed: &mut u64) -> u64 {
    *seed = seed
        .wrapping_mul(6364136223846793005)
        .wrapping_add(1442695040888963407);
    *seed >> 40
}

/// One number for a whole sequence, in order.
pub fn digest<'a>(items: impl IntoIterator<Item = &'a u64>) -> u64 {
    items.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, item| {
        (hash ^ item).wrapping_mul(0x0100_0000_01b3)
    })
}

const SHAPES: &[Shape] = shapes! {
    bindings: shadowing, shadowed_value_still_alive, shadowing_in_a_loop, deferred_initialisation, initialised_after_the_site, initialised_inside_the_loop, destructuring, destructuring_assignment, moved_before_the_site, moved_on_one_branch, used_up_after_the_site, inferred_types, constant_and_text_literals, not_needed_after_the_site, ignored_and_underscored, parameter_patterns, changed_after_it_was_read, variables_named_like_functions, tuple_declared_without_a_value, named_like_its_maker_and_borrowed;
    blocks: nested_blocks, unsafe_block, block_as_value, block_left_early, assignment_from_a_block, site_as_the_only_statement, text_printed_without_end_of_line, operands_of_an_expression, operands_that_begin_with_a_block, unsafe_conditions;
    bodies: items_in_the_body, std_macros_with_inline_captures, unknown_macros, macro_defined_in_the_body, attributes_in_the_body, attribute_at_the_top, steering_attributes, names_like_the_generated_ones, imported_macro_path, inner_attributes;
    borrows: shared_reference, mutable_reference, reference_to_a_field, swapped_values, swapped_references, split_at_mut_views, mutable_view_of_a_part, words_of_a_text, walk_along_a_linked_list, two_level_borrow, borrow_ended_before_the_site, mutable_reference_then_owner, reference_to_a_temporary, shared_borrow_of_an_exclusive_one, hidden_while_borrowed_exclusively, closures_through_exclusive_references, parts_that_move, gone_over_through_an_exclusive_reference;
    branches: if_else_if_else, condition_changed_before_site, condition_with_effect, if_as_value, if_let_copied_value, if_let_by_reference, if_let_on_a_call_with_effect, if_let_scrutinee_overwritten_inside, if_let_taken, if_let_else_if_let, nested_branches, site_in_an_else_branch_only, value_for_another_branch, condition_with_a_value_for_its_else;
    calls: statement, in_let, as_tail, as_argument, as_two_arguments, in_a_macro, in_struct_and_tuple_literals, three_frames_deep, mutable_argument, mutable_argument_passed_on, argument_by_value, shared_references, slices_of_a_vector, field_of_a_struct, one_frame_two_callees, called_by_path, temporaries_as_arguments, callee_without_a_visit, copies_of_what_references_point_to, on_each_element, part_lent_while_another_is_gone_over, called_by_another_name, called_through_a_variable;
    chains: collected, collected_with_a_site_in_the_closure, summed, folded_and_counted, for_each_of_them, one_in_the_closure_of_another, in_the_iterator_of_a_loop, functions_by_name, closures_that_end_early, ends_that_stop_early, ends_that_keep_one, the_rest_of_an_iterator, with_a_list_that_is_moved_in;
    closures: wrapped_for_a_call, without_captures, capturing_by_reference, capturing_mutably_between_sites, passed_to_an_adaptor_in_the_body, function_pointer, made_from_a_value_that_is_drawn, two_closures_one_using_the_other, owning_what_they_only_read, boxed, generator_of_random_numbers, with_a_state_of_their_own, passed_to_a_marked_call, changing_what_they_capture, reading_numbers_of_tuples_and_passed_away, called_where_they_stand, called_where_they_stand_with_arguments, owning_and_called_where_they_stand;
    exits: question_mark_in_a_loop, question_mark_on_marked_calls, question_mark_on_option, early_return_from_nested_loops, return_from_a_match_in_a_loop, boxed_error, block_label_with_value, result_matched_on_a_marked_call, marked_call_in_if_let_and_while_let, marked_call_in_let_else;
    files: written_file, file_that_is_not_mutable, file_that_no_one_reads_and_that_hides_a_number, appended_file, buffered_file, buffer_that_no_one_uses_any_more, half_a_line, file_in_a_struct, lines_of_a_file, lines_of_a_file_opened_in_place, numbered_lines_after_a_header, files_given_away, lines_taken_one_by_one, reader_that_is_lent, lines_of_a_file_through_closures, lines_of_readers_that_are_lent, bytes_of_a_reader_in_a_struct, reader_by_blocks, file_that_is_read_and_changed, locked_standard_output, buffered_standard_output, stopwatch, lock_under_the_name_of_its_stream;
    generics: several_types, generic_slices, impl_iterator_argument, impl_fn_argument, closure_by_reference, impl_debug_elements, generic_struct_method, dyn_reference_argument, exclusive_arguments_of_any_type, methods_without_a_bound, exclusive_objects_of_the_programs_own;
    guards: dropped_at_the_end_of_scope, never_used_again, dropped_by_hand_between_sites, shadowed_guards, replaced_in_a_loop, guard_in_a_caller, vector_of_guards, initialised_late, break_out_of_guarded_blocks, taken_over_and_shadowed;
    iterators:  over_a_part_of_an_own_iterator, named_before_the_loop, over_slice, over_slice_iter, over_array_by_value, over_enumerate, over_zip, over_chunks_and_windows, over_owned_vector, over_btree_map, over_hash_map_by_value_in_any_order, over_set_and_deque, over_adaptor_chain, over_filter_that_borrows_a_variable, over_text, over_iterator_of_a_local_vector_grown_before, over_own_iterator, over_a_vector_made_by_a_call, iterator_kept_by_hand, over_keys_then_index, over_chosen_items_of_an_owned_vector, over_closures_that_own_or_change, over_references_that_a_closure_chooses;
    loops: for_half_open, for_closed, for_closed_to_the_maximum, for_open_ended, for_reversed, for_stepped, for_bounds_that_change_inside, for_over_chars, for_range_variable, nested_for, while_condition, while_condition_with_effect, while_condition_made_false_before_site, while_let_pop, while_let_chain, while_let_queue_of_structs, loop_with_value, loop_as_tail, labelled_break_and_continue, labelled_break_with_value, continue_before_and_after_site, site_first_and_last, loops_of_every_kind_nested, variable_local_to_the_body, site_in_while_condition, left_with_a_value_that_had_moved, body_that_ends_with_a_loop, item_behind_the_loop;
    matches: on_number_and_range, on_enum_by_reference, state_machine, scrutinee_overwritten_inside, scrutinee_with_effect, match_as_value, on_tuple_and_slice, on_string, guard_that_counts, nested_match, on_a_call_with_a_site, on_a_text_without_an_owner, chosen_by_what_would_be_made_again;
    mixes: question_marks_everywhere, chains_in_matches_in_while_lets, buffers_and_views_in_loops_with_values, recursion_with_closures_guards_and_late_values, shadows_and_parts_under_labels;
    methods: by_mutable_reference, by_shared_reference, by_value, method_calling_methods, chained_receivers, moved_and_given_back, receivers_that_are_lent_on, on_an_element, on_fields_of_self, trait_method, trait_default_method, through_another_function, const_generic_receiver;
    names: raw_names, variables_with_capitals, items_of_the_same_names;
    phases: two_loops, value_moved_between_loops, sites_before_inside_and_after, different_variables_at_each_site, same_name_in_two_phases, calls_in_sequence, second_loop_uses_counter_of_the_first, loop_inside_a_branch_then_a_loop;
    recursion: linear, binary, quicksort_by_index, mergesort_by_split_slices, backtracking, mutual, tree_by_reference, tree_by_mutable_reference, towers;
    statics: atomics, locks, thread_locals, locks_in_a_list, changed_by_what_is_executed_again;
    threads: parts_of_a_list, a_function_as_body_in_a_callee, one_by_one_with_results, spawned_and_joined, a_generator_of_each_and_a_loop_behind, a_method_whose_threads_look_at_self, a_struct_of_locks_and_a_barrier, a_name_for_what_is_shared, a_share_of_its_own, a_share_between_start_and_join, a_team_with_loops_and_reductions, lines_and_lists_between_the_waits, ends_of_channels_that_no_one_uses_any_more, what_moves_into_a_thread, what_moves_on_into_a_thread, a_receiver_moves_into_a_thread, a_list_of_parts_and_blocks_that_make_closures, messages_of_a_thread_that_has_ended;
    through_serde: a_variable, some_of_a_pattern, parameters, arguments_used_up_before_the_site;
    travelling: shadowed_by_a_value_made_from_it, shadowed_by_the_result_of_a_call, given_a_value_again_in_a_loop, put_aside_before_a_continue, put_aside_before_a_break_with_a_value, declared_first_and_moved_later, without_a_value_on_one_way, a_loop_without_end_leaves_with_a_value, parameter_given_a_value_again, moved_on_one_way_and_borrowed_on_the_other, destructors_in_the_order_of_declaration, late_guards, changed_while_its_shadow_is_made, reference_to_a_reference, closure_across_a_shadow, moved_before_a_loop_that_gives_it_again, value_of_a_block_that_ends_with_a_variable_put_aside, given_again_on_one_way_in_a_loop;
    values: numbers, texts_and_paths, collections, options_and_results, wrappers, shared_pointers, derived_types, derived_with_field_attributes, arrays_and_boxed_slices, empty_and_nested_empty, trees_and_lists, parts_of_trees;
    effects: iterator_that_empties_its_source, iterator_split_off, iterator_made_with_a_draw, range_made_with_a_draw, argument_with_effect, operand_with_effect, operand_changed_by_the_call, assignment_to_a_place_with_effect, reference_made_with_a_draw, closure_over_a_cell, shared_pointer_in_two_frames, text_of_an_environment;
    operands: element_found_by_a_number_that_goes_on, element_lent_to_a_marked_call, receiver_found_by_a_number_that_goes_on, receiver_of_a_plain_method, an_operand_without_a_site_changes_another, copies_of_what_a_call_changes, assigned_to_an_element_of_a_list, added_to_an_element_found_by_a_call, arguments_of_a_macro, element_lent_beside_its_number, elements_of_a_vec, receiver_that_is_also_passed_as_a_copy, receiver_in_a_copy_with_a_reference, receiver_that_is_a_parameter_and_passed_as_a_copy, element_of_a_list_that_is_also_passed_as_a_copy, receiver_behind_a_reference_that_is_passed_on, added_to_a_number_found_by_a_number_that_goes_on, texts_of_checks_that_hold, text_of_a_check_that_fails, text_of_a_check_for_debugging_that_fails;
    operators: used_up_between_loops, used_up_parameters, a_receiver_that_is_used_up, under_the_name_of_one_of_them, operands_with_sites, arguments_of_calls_with_sites, arguments_computed_from_numbers, operands_with_sites_in_a_loop, operands_with_sites_as_the_value, added_to_what_is_there, given_again_in_a_loop, used_up_on_one_way, by_one_operand, keys_by_value, numbers_that_are_not_known_to_be_any;
    owners: clones_that_are_done_with, guards_of_a_pointer, unwrapped_when_it_is_alone, changed_after_a_copy, pointers_in_lists_and_structs, made_by_a_function, shadowed_owners, asked_in_called_functions, weak_pointers, weak_pointer_that_is_done_with, a_tree_that_knows_its_parents, observers_that_go, last_owner_of_a_weak_pointer, closures_that_own_pointers, given_away_and_taken_back, matched_and_gone_over, given_away_as_an_argument, argument_that_is_done_with, in_temporaries, given_later;
    again: variants_of_a_field, patterns, items_of_a_for, reference_in_a_pattern;
    unwritten: a_matrix_and_a_vector, filled_anew_for_every_phase, another_activation_has_another_array, arrays_that_trade_places, behind_a_cell;
    used_up: transformed_first, receiver_taken_apart, consumed_by_a_method, shadowed_by_what_is_made_of_them, used_up_on_one_branch, through_two_frames, steered_parameters, a_receiver_without_a_name, receivers_all_the_way_down, used_behind_the_site;
    refills: struct_with_callbacks, lent_to_a_method, nested_and_carved, of_a_plain_type, a_literal_of_what_moves, a_call_of_what_moves, exclusive_references, exclusive_references_of_a_caller;
    objects: boxed_solver_in_a_loop, solver_replaced_on_the_way, list_of_bodies, values_lent_as_objects, struct_with_a_boxed_field, element_of_a_list_lent, object_by_value, shared_boxed_object, objects_behind_shared_pointers, methods_with_sites_behind_boxes;
    parallel: collected, from_the_last_to_the_first, shown_on_the_way, summed, filled_in_chunks, zipped_and_reduced, folded_and_reduced, gathered_in_other_collections,
        compared, used_up, ended_early, in_a_chain_and_as_an_operand, owned_by_the_closure, in_a_loop;
    parameters: tuple_and_array_parameters, guard_as_parameter, unused_parameters, exclusive_lent_as_shared, parts_that_move_on, parameters_by_reference;
    patterns: bound_by_alternatives, value_that_changes_next_to_a_reference, value_taken_before_the_whole_changes, mutable_references_to_fields, slices_and_names_for_the_whole, values_and_references_in_one_arm, alternatives_by_mutable_reference, references_in_conditions, copies_that_change, pairs_of_an_array_of_pairs, found_by_a_number_that_goes_on, moved_in_one_arm_and_borrowed_in_another, fields_moved_in_one_arm_and_borrowed_in_another;
    macros: jumps_among_the_arguments, returns_among_the_arguments, unknown_macro_that_goes_on, consumed_by_an_argument, macro_that_uses_the_functions_variables, macro_that_uses_a_variable_that_is_hidden, macro_of_the_body_that_stays, macro_with_a_librarys_name, a_list_of_one_value_looks_at_fields, what_is_borrowed_is_still_there, declares_in_blocks_without_a_site, names_a_field;
    inference: fixed_after_the_site, branches_that_never_return, casts_and_operators, struct_update_and_shorthand, declared_by_typed_tuples, typed_by_the_tuple_alone, written_in_loops_that_may_not_run;
};
