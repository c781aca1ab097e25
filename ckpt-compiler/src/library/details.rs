//! What only ckpt's own tables say, in sections: how a call goes over items, what a type holds. Every section is a type,
//! every key of it a value; [`Library::says`](super::Library::says) asks whether a name is listed there.
//!
//! A name may begin or end with `*`, for any letters in its place; a path `A::b` stands for functions whose path ends so.

use std::collections::HashMap;

/// A section of the tables.
pub trait Section: Copy + PartialEq + 'static {
    /// Its name in the tables.
    const NAME: &'static str;
    /// Its keys.
    const KEYS: &'static [(&'static str, Self)];

    /// The place of this key among them.
    fn index(self) -> usize;
}

macro_rules! sections {
    ($($(#[$of_section:meta])* $section:literal => $kind:ident {
        $($(#[$of_key:meta])* $one:ident = $key:literal,)*
    })*) => {
        $(
            $(#[$of_section])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq)]
            pub enum $kind {
                $($(#[$of_key])* $one,)*
            }

            impl Section for $kind {
                const NAME: &'static str = $section;
                const KEYS: &'static [(&'static str, Self)] = &[$(($key, Self::$one),)*];

                fn index(self) -> usize {
                    self as usize
                }
            }
        )*

        /// The keys of the section of this name, if there is one.
        pub(super) fn keys_of(section: &str) -> Option<Vec<&'static str>> {
            match section {
                $($section => Some($kind::KEYS.iter().map(|(key, _)| *key).collect()),)*
                _ => None,
            }
        }
    };
}

sections! {
    /// How a method goes over items.
    "iterators" => Iterators {
        /// Goes over shared references to what is in the receiver.
        Shared = "shared",
        /// Goes over exclusive references to what is in the receiver.
        Exclusive = "exclusive",
        /// Goes over exclusive references to parts of an array of several dimensions.
        OverParts = "over_parts",
        /// Returns the receiver's items as they are.
        Passes = "passes",
        /// Chooses items by where they stand alone.
        Positional = "positional",
        /// Begins an iterator in another way.
        Begins = "begins",
        /// Of those of `begins`: gives values of its own.
        Values = "values",
        /// Begins one that uses its receiver up.
        UsesUp = "uses_up",
        /// Begins one over the parts of a text or list, if the receiver is one.
        Splits = "splits",
        /// A function that makes an iterator of a closure.
        Computed = "computed",
        /// A function that makes an iterator of values.
        Repeated = "repeated",
        /// Begins one of which several threads take items.
        Parallel = "parallel",
        /// Goes over what it is given, or called on, however that is done.
        Converts = "converts",
        /// Lends the iterator itself.
        Itself = "itself",
        /// Takes the next item.
        Next = "next",
        /// Makes of all items something whose type is told elsewhere.
        Gathers = "gathers",
        /// Of those of `gathers`: makes it of any value as well.
        OfAnything = "of_anything",
    }
    /// What an adaptor makes of an iterator.
    "adaptors" => Adaptor {
        /// What a closure makes of each item.
        Maps = "maps",
        /// The items, and a closure that looks at each.
        Inspects = "inspects",
        /// Those for which a closure says so.
        Keeps = "keeps",
        /// Those in front of the first for which a closure does not say so.
        KeepsWhile = "keeps_while",
        /// What a closure makes of those of which it makes something.
        MapsSome = "maps_some",
        /// What a closure makes of those in front of the first of which it makes nothing.
        MapsWhile = "maps_while",
        /// The items with their numbers.
        Numbers = "numbers",
        /// The items with those of another iterator.
        Pairs = "pairs",
        /// Copies of what the items refer to.
        Copies = "copies",
        /// The items of the items.
        Nests = "nests",
        /// What a closure makes of each item and a state that goes on.
        Scans = "scans",
        /// The items from the last to the first.
        Reverses = "reverses",
        /// All but the first.
        Skips = "skips",
        /// The first.
        Takes = "takes",
    }
    /// What the last call of a chain of adaptors comes to.
    "endings" => Ending {
        /// A collection of the items.
        Collects = "collects",
        /// Two collections.
        Unzips = "unzips",
        /// Two collections, by what a closure says of each item.
        Partitions = "partitions",
        /// The sum.
        Sums = "sums",
        /// The product.
        Multiplies = "multiplies",
        /// The number of items.
        Counts = "counts",
        /// The largest item, of equals the last.
        Largest = "largest",
        /// The smallest item, of equals the first.
        Smallest = "smallest",
        /// The last item.
        Last = "last",
        /// Nothing: a closure is called for each.
        Each = "each",
        /// The same, until the closure says that it is enough.
        EachEarly = "each_early",
        /// Whether a closure says so of any item.
        Any = "any",
        /// Whether a closure says so of all.
        All = "all",
        /// The first item of which a closure says so.
        Finds = "finds",
        /// The first thing that a closure makes of an item.
        FindsSome = "finds_some",
        /// How many are in front of the first of which a closure says so.
        Position = "position",
        /// The largest item, as a closure compares.
        LargestBy = "largest_by",
        /// The smallest item, as a closure compares.
        SmallestBy = "smallest_by",
        /// The item with the largest key.
        LargestByKey = "largest_by_key",
        /// The item with the smallest key.
        SmallestByKey = "smallest_by_key",
        /// What a closure makes of all, two by two.
        Reduces = "reduces",
        /// What a closure makes of a value and item after item.
        Folds = "folds",
        /// The same, until the closure says that it is enough.
        FoldsEarly = "folds_early",
    }
    /// What a parallel iterator is made of, as far as it can be cut into blocks of items.
    "blocks" => Blocks {
        /// Begins one over the elements of a list.
        Elements = "elements",
        /// Begins one over as many elements of a list at a time, and those that are left.
        Chunks = "chunks",
        /// The same without those that are left.
        WholeChunks = "whole_chunks",
        /// Begins one over as many elements of a list at a time, which overlap.
        Windows = "windows",
        /// Begins one over what is in its receiver, which it uses up.
        UsesUp = "uses_up",
        /// Does the same to an item wherever it stands.
        Alike = "alike",
        /// Numbers the items.
        Numbers = "numbers",
        /// Gives the items from the last to the first.
        Turns = "turns",
        /// Shows somebody how far it is, in what its argument is a handle of; the items stay what they are.
        Shows = "shows",
        /// Gives the items with those of another one.
        Pairs = "pairs",
        /// Ends it: a collection, or several.
        Collects = "collects",
        /// Ends it: the number of items.
        Counts = "counts",
        /// Ends it: the sum.
        Sums = "sums",
        /// Ends it: the product.
        Multiplies = "multiplies",
        /// Ends it: the largest item.
        Largest = "largest",
        /// Ends it: the smallest item.
        Smallest = "smallest",
        /// Ends it: the largest item, as a closure compares or makes a key.
        LargestBy = "largest_by",
        /// Ends it: the smallest item, as a closure compares or makes a key.
        SmallestBy = "smallest_by",
        /// Ends it: what a closure makes of all, two by two, beginning with what another gives.
        Reduces = "reduces",
        /// The same, beginning with an item.
        ReducesItems = "reduces_items",
        /// Ends it: a closure is called for each.
        Each = "each",
        /// The same, until the closure says that it is enough.
        EachEarly = "each_early",
        /// Ends it: whether a closure says so of any.
        Any = "any",
        /// Ends it: whether a closure says so of all.
        All = "all",
        /// Ends it: an item, or what a closure makes of one, of which it says so.
        Finds = "finds",
    }
    /// Methods of any type, by what they do to their receiver.
    "methods" => Methods {
        /// Looks at what changes behind a shared reference, if it is called without arguments.
        LooksInsideAlone = "looks_inside_alone",
        /// Looks at what changes behind a shared reference, or changes it.
        LooksInside = "looks_inside",
        /// May do so, but has a name that methods of other types have as well.
        ChangesInside = "changes_inside",
        /// Goes over what is in a table.
        GoesOverTable = "goes_over_table",
        /// Brings items into an order of their own.
        Sorts = "sorts",
        /// Returns what is in it, or panics.
        Unwraps = "unwraps",
        /// Returns what is in it, or the argument.
        Defaults = "defaults",
        /// Leaves it as it is.
        Looks = "looks",
        /// Changes what is in it at most, behind a shared reference.
        Interior = "interior",
        /// Lends it, or a part of it, exclusively.
        Lends = "lends",
        /// Gives something exclusive that may change it, or its receiver, later.
        Opens = "opens",
        /// Returns a guard, if it is called without arguments.
        Guards = "guards",
        /// Lends the element with the one argument for a key.
        Finds = "finds",
        /// Gives one item at most.
        GivesOne = "gives_one",
        /// Lends it as a text or the like.
        AsText = "as_text",
        /// Makes a copy of it.
        Clones = "clones",
        /// Tells how many elements it has.
        Measures = "measures",
        /// Gives one of its own.
        Copies = "copies",
        /// Takes it by shared reference or value, beside those of `pure` and `borrows`.
        Leaves = "leaves",
        /// May give an exclusive reference to it, or to a part of it, beside those of `mutably`.
        MayLend = "may_lend",
        /// Returns what is in an `Option` or a `Result`, or another one of that.
        Unpacks = "unpacks",
        /// Asks a collection for what is under a key, or how much there is.
        ByKey = "by_key",
        /// Leaves a list as long as it is, and keeps no reference into it.
        InPlace = "in_place",
        /// Leaves a list as long as it is.
        KeepsLength = "keeps_length",
        /// Makes a number of one, and keeps no reference to it.
        OfNumbers = "of_numbers",
        /// Called without arguments: gives what is in it and leaves nothing there.
        TakesOut = "takes_out",
        /// Gives what it is called on another value, or lends it for that.
        Assigns = "assigns",
        /// Ends the process.
        Ends = "ends",
        /// Puts its argument behind what is there.
        Adds = "adds",
        /// Takes it by reference, whatever it does with it then.
        ByReference = "by_reference",
        /// Leaves it as it is, and takes it by value: an iterator, an option, a reader.
        ByValue = "by_value",
        /// Gives it as a value of another type, where it is one of that.
        TriesToBe = "tries_to_be",
        /// Gives what is in an `Option` or a `Result` on where that is good.
        PassesSuccess = "passes_success",
    }
    /// What methods of libraries for devices do with arrays, for people; only by `exchanges` something is refused.
    "device_methods" => DeviceMethods {
        /// Gives an array.
        Makes = "makes",
        /// Gives an array of which the library knows what the elements are.
        MakesTexels = "makes_texels",
        /// Of what was made, or was not: may give something else instead.
        Replaces = "replaces",
        /// Gives what stands for the array that it is called on.
        Same = "same",
        /// Gives a kernel its next argument.
        Arguments = "arguments",
        /// Has something made from what is in a file.
        FromFiles = "from_files",
        /// Writes to the array that it is called on, or that it is given.
        Writes = "writes",
        /// Writes to the array that it is given, from that which it is called on.
        Copies = "copies",
        /// Writes to the last array that it is given, from the one before.
        Between = "between",
        /// Has shaders given arrays, by a description of which is which.
        Binds = "binds",
        /// A list of arrays has others, or in another order, after it.
        Exchanges = "exchanges",
        /// Gives its receiver something that one which is made again would not have.
        Sets = "sets",
        /// Makes its receiver ready for use, where that was not done when it was made.
        Completes = "completes",
        /// Gives what makes a handle from what it is told.
        Builders = "builders",
        /// Gives the layout of a group of arrays, of the number that it is given.
        Groups = "groups",
        /// Only reads.
        Reads = "reads",
    }
    /// What functions and methods make of the number of devices.
    "device_numbers" => DeviceNumbers {
        /// Lists devices, or what they are of.
        Lists = "lists",
        /// Says how many there are, or writes that somewhere.
        Counts = "counts",
        /// How long a list is.
        Lengths = "lengths",
        /// Of a list or one of its elements, without an argument: gives the same, also where it may have failed or not be there.
        Keeps = "keeps",
        /// The same with an argument that does nothing.
        Unpacks = "unpacks",
        /// Waits for what it is given.
        Waits = "waits",
        /// Of a list: gives a list of what a closure makes of each.
        Maps = "maps",
        /// Of a list: gives one of its elements, if there are any.
        Picks = "picks",
        /// The same, another one each time.
        Moves = "moves",
        /// Of a list: says whether there is anything in it, which does not hang on the number.
        AsksIfAny = "asks_if_any",
        /// Is told which devices something is for.
        Takes = "takes",
        /// Gives the device that something is on.
        Gives = "gives",
        /// A type of devices: what is made of one of them is the same one.
        Wraps = "wraps",
    }
    /// Content on devices that no variable holds, with crates of which nobody counts what they have there.
    "device_hidden" => DeviceHidden {
        /// A handle of such a crate, or what makes one: content may hang on it.
        Handles = "handles",
        /// Gives the address of memory there, or that of a variable of kernels, or reads kernels that nobody sees.
        Addresses = "addresses",
        /// A usage of an array or a texture by which kernels may write to it.
        Written = "written",
        /// One by which they only read.
        OnlyRead = "only_read",
        /// Functions that give addresses of the program's own memory, by the whole path.
        AddressesInMemory = "addresses_in_memory",
    }
    /// Exclusive borrows by a method, and the places that they are borrows of.
    "places" => PlaceOf {
        /// All of the list.
        Whole = "whole",
        /// What a box holds.
        Boxed = "boxed",
        /// The element with the argument for a key.
        Element = "element",
        /// Each element, in order.
        Each = "each",
        /// The first element.
        First = "first",
        /// The last element.
        Last = "last",
        /// What is in front of the argument, and what is behind.
        Halves = "halves",
    }
    /// Types, by their names.
    "types" => Types {
        /// Has no destructor that anybody would notice.
        Inert = "inert",
        /// Has none if what it has for parameters has none.
        InertAround = "inert_around",
        /// A module on the way to one of those.
        Modules = "modules",
        /// Takes no room, whatever its parameter is.
        Markers = "markers",
        /// Changes behind a shared reference in another way than those of `cells`, `atomics` and `once`, or is made by a
        /// function of this name.
        ChangesInside = "changes_inside",
        /// Holds a value or says why there is none.
        Fallible = "fallible",
        /// A raw pointer, or a function or method that makes one.
        Pointers = "pointers",
        /// A map, of a key's type and a value's.
        Maps = "maps",
        /// A collection whose elements come in another order in every process.
        Hashed = "hashed",
        /// A collection whose elements come in an order of their own, always the same.
        Sorted = "sorted",
        /// A pointer that owns what is behind it.
        Owners = "owners",
        /// Stands for what is behind it.
        Guards = "guards",
        /// Holds a value that changes behind a shared reference.
        Cells = "cells",
        /// A number, or the like, that changes behind a shared reference.
        Atomics = "atomics",
        /// Gets its value once, behind a shared reference.
        Once = "once",
        /// Another value each time that it is asked.
        Clocks = "clocks",
        /// Of the standard library, and in no checkpoint.
        Unsaved = "unsaved",
        /// An iterator.
        Iterators = "iterators",
        /// An iterator over a text, if it has no parameter but a lifetime.
        TextIterators = "text_iterators",
        /// Its values hold no reference if those of its parameters hold none.
        OfValues = "of_values",
        /// Stands for something of a library that a restart makes again.
        Handles = "handles",
        /// A trait that only such types have.
        HandleTraits = "handle_traits",
        /// A crate that has them.
        HandleCrates = "handle_crates",
        /// A crate by which programs compute on devices.
        DeviceCrates = "device_crates",
        /// Memory on a device, or what makes it: its content is lost where it is made again.
        DeviceMemory = "device_memory",
        /// Of these a checkpoint holds the content, by their whole paths.
        DeviceArrays = "device_arrays",
        /// An array of which the library knows the bytes alone.
        DeviceBytes = "device_bytes",
        /// A type to which handles without a type point.
        DeviceUntyped = "device_untyped",
        /// A function that makes an array or a kernel, with the name of its type.
        DeviceMakers = "device_makers",
        /// A method that gives an array that it is lent content from the program's memory.
        DeviceUploads = "device_uploads",
        /// A method of an array by which it is given content.
        DeviceFills = "device_fills",
        /// Is given a list whose elements an array on a device begins with: a method, or a field.
        DeviceContents = "device_contents",
        /// Gives the elements of a list as others see them: a function or a method.
        DeviceViews = "device_views",
        /// Gives the bytes of one value, which are as many whatever it is: a function.
        DeviceValues = "device_values",
        /// A kernel, or what makes one.
        DeviceKernels = "device_kernels",
        /// The same, by the whole path of the type: of these a checkpoint holds the arguments.
        DeviceKernelTypes = "device_kernel_types",
        /// A handle to what a restart makes again.
        DeviceHandles = "device_handles",
        /// A method that gives a kernel other arguments.
        DeviceRebinds = "device_rebinds",
        /// Events of commands on devices, by crate and name.
        DeviceEvents = "device_events",
        /// A method that changes the content of an array that it is lent, and not which array it is.
        DeviceCommands = "device_commands",
        /// A crate of which no library is beneath the program: ckpt has to see where devices are opened.
        DeviceWatchedCrates = "device_watched_crates",
        /// A crate of which nobody counts what it has on devices.
        DeviceUncountedCrates = "device_uncounted_crates",
        /// A method by which such a program asks for adapters and devices.
        DeviceWatched = "device_watched",
        /// Says what an array is for that is made.
        DeviceDescriptions = "device_descriptions",
        /// Makes an array on a device that is watched.
        DeviceMade = "device_made",
        /// Says what kernels may do with arrays, or which they are given.
        DeviceSeen = "device_seen",
        /// As `DeviceSeen`, in a way that is not looked at.
        DeviceUnseen = "device_unseen",
        /// A macro that gives the text of a file, which may be that of kernels.
        DeviceTexts = "device_texts",
        /// What is under way: it has to be done with at a site.
        DeviceWork = "device_work",
        /// A method that gives a device something to do, or waits for it, where the program uses devices.
        DeviceTraces = "device_traces",
        /// Has the name of memory on a device, and is none.
        DeviceNames = "device_names",
        /// Holds one value, as that would stand by itself.
        Boxes = "boxes",
        /// A list that may grow.
        Lists = "lists",
        /// A collection of characters.
        Texts = "texts",
        /// Of a static: computes its value when it is first used.
        Late = "late",
        /// The same of the standard library, which a program names as it is.
        ComputedLate = "computed_late",
        /// A writer that passes on what it has in its buffer when it is dropped.
        Flushes = "flushes",
        /// A writer of tables, of the type that it writes to.
        TableWriters = "table_writers",
        /// Shows how far something is, and nothing of it comes back to the program.
        ShowsOnly = "shows_only",
        /// A pointer that counts how many of its kind point to the same value.
        Counted = "counted",
        /// A trait of which ckpt has one that takes its place in a box.
        Writers = "writers",
        /// The same for what is read from.
        Readers = "readers",
        /// Reads through a buffer.
        Buffered = "buffered",
        /// A type, by its whole path, whose place is taken by that of ckpt with the same path.
        Replaced = "replaced",
        /// The same of a module, where a checkpoint has to hold something of it.
        ReplacedModules = "replaced_modules",
    }
    /// Functions, by what they do with what they are given.
    "functions" => Functions {
        /// Puts it behind a pointer.
        Boxes = "boxes",
        /// Puts one in the place of the other.
        Swaps = "swaps",
        /// Gives one of them, whose place takes another.
        Exchanges = "exchanges",
        /// Ends the process.
        Exits = "exits",
        /// Keeps a closure, beyond the call.
        Keeps = "keeps",
        /// Installs something in the process, for its caller and everybody else: a handler, a logger, a pool of threads. Also what
        /// begins a chain of calls that does so.
        Installs = "installs",
        /// Waits for the future that it is given, and gives what that gives.
        WaitsForFuture = "waits_for_future",
        /// Gives the two ends of a channel.
        Connects = "connects",
        /// Makes something without anything of the program's state in it but what is shared.
        Fresh = "fresh",
        /// Of a type: makes a value of it.
        Makes = "makes",
        /// Of a type: makes a value that holds nothing on the heap.
        MakesFlat = "makes_flat",
        /// Gives an answer that depends on how many pointers to one value there are.
        CountsOwners = "counts_owners",
        /// Does so if it is a function or a method of such pointers; others have it too.
        MayCountOwners = "may_count_owners",
        /// Does so if it is a function of such pointers, called as `Type::function`.
        CountOwnersByPath = "count_owners_by_path",
        /// Makes a pointer that counts as an owner.
        Owns = "owns",
        /// Gives an answer that depends on where in memory something is.
        AsksWhere = "asks_where",
    }
    /// Macros, by what they are given.
    "macros" => Macros {
        /// Types whose values are the bits of a number, `struct Flags: u32 { .. }`, with `bits` and `from_bits`.
        Bits = "bits",
        /// A condition, and a text.
        Condition = "condition",
        /// Two values, and a text.
        Comparison = "comparison",
        /// A place to write to, and a text.
        Writes = "writes",
        /// Values that it takes.
        Takes = "takes",
        /// A value and a pattern.
        Matches = "matches",
        /// Anything: it computes a value and does nothing else.
        Computes = "computes",
        /// A text, which the user sees.
        Prints = "prints",
        /// Values that it makes a list of, or a value and a count.
        Lists = "lists",
        /// Nothing, in a program that is not built for debugging.
        Debugs = "debugs",
        /// A text, which is made only if somebody wants to read it.
        IfWanted = "if_wanted",
        /// An error, with which it leaves the function.
        Leaves = "leaves",
        /// A text or the like; it gives one, where others of its kind give nothing.
        GivesText = "gives_text",
        /// Of those of `comparison`: wants two values that differ.
        Differing = "differing",
        /// A text that is hardly ever made.
        Rare = "rare",
        /// A place, which it leaves as it is.
        Looks = "looks",
        /// Declarations of statics, one for each thread.
        ThreadLocals = "thread_locals",
        /// Declarations of statics whose values are computed when they are first used.
        LateStatics = "late_statics",
    }
    /// Threads.
    "threads" => Threads {
        /// A function that waits for the threads that its closure starts.
        Scopes = "scopes",
        /// One that does so with threads that may be fewer.
        Pooled = "pooled",
        /// A function or method that starts a thread.
        Starts = "starts",
        /// A function that is given the body of a thread.
        Bodies = "bodies",
        /// A function that starts one which may outlive it.
        StartsAside = "starts_aside",
        /// A name in what a thread is built with.
        Builders = "builders",
        /// A name in what stands for a pool of threads.
        Pools = "pools",
        /// A method of a pool that gives it something to do.
        Executes = "executes",
        /// A method that waits for a thread.
        Joins = "joins",
        /// A method that threads share things by.
        Shares = "shares",
        /// A method that may be re-executed where threads are started anew.
        Reexecuted = "reexecuted",
        /// A function that may.
        ReexecutedFunctions = "reexecuted_functions",
        /// A function that ends a value, before threads are waited for.
        Drops = "drops",
        /// A function that makes the two ends of a channel.
        Channels = "channels",
        /// The end of a channel that messages come out of, as a type.
        Receivers = "receivers",
        /// A method that goes over the messages of a channel as they come, and takes them away.
        Messages = "messages",
        /// The same with those that are there.
        MessagesThere = "messages_there",
        /// A method that may do so on a variable that is rebuilt as well.
        ReexecutedOnOwn = "reexecuted_on_own",
        /// A method that starts threads, which may have sites, with its last argument.
        MayHaveSites = "may_have_sites",
        /// A module or crate whose scopes are those of threads.
        Modules = "modules",
        /// A crate whose functions have a pool of threads run what they are given.
        PoolCrates = "pool_crates",
    }
    /// `ckpt::team`.
    "teams" => Teams {
        /// A name in what stands for a team.
        Named = "named",
        /// A field that holds one.
        Fields = "fields",
        /// A method that runs a closure on all members.
        Runs = "runs",
        /// A method that runs it on parts of the data.
        RunsOn = "runs_on",
        /// A method of a member that is the same whoever it is.
        Same = "same",
        /// One that gives the same as well.
        GivesSame = "gives_same",
        /// A function that makes one.
        Makes = "makes",
    }
    /// Numbers.
    "numbers" => Numbers {
        /// Gives what it is given as a number of its type, where it is one.
        TriesFrom = "tries_from",
        /// Whether one is a multiple of another.
        IsMultiple = "is_multiple",
        /// A method that gives a number of the type of its receiver.
        Gives = "gives",
        /// A function that makes one of another.
        From = "from",
        /// The module of constants of a type of numbers.
        Constants = "constants",
        /// A method that gives how many there are.
        Length = "length",
        /// A method that gives a power of its receiver.
        Power = "power",
        /// A function of types of numbers, `f64::sin`, that takes one of them.
        OfOne = "of_one",
        /// One that takes two.
        OfTwo = "of_two",
        /// One that takes three.
        OfThree = "of_three",
    }
    /// Handles of the standard streams, and readers.
    "streams" => Streams {
        /// A function that gives the standard input.
        Input = "input",
        /// A function that gives a standard stream to write to.
        Output = "output",
        /// A function that makes a reader of what it is given.
        Reader = "reader",
        /// A method that keeps the stream for oneself.
        Locks = "locks",
        /// A method that goes over the lines of a reader.
        Lines = "lines",
        /// A method that goes over the bytes of a reader.
        Bytes = "bytes",
    }
    /// Whether what comes of a call is told by what it is given.
    "determined" => Determined {
        /// Functions and methods that tell it by nothing else, whatever type they are of.
        Always = "always",
        /// Types whose constructors do.
        Types = "types",
        /// Those constructors.
        Constructors = "constructors",
        /// Functions of types, called as `Type::function`, that do.
        OfTypes = "of_types",
        /// By files besides.
        Files = "files",
        /// Methods that tell it by the process, by time, or by the order of threads.
        Never = "never",
    }
    /// What a program finds around it, and may have changed since.
    "surroundings" => Surroundings {
        /// The modules of these functions.
        Modules = "modules",
        /// Functions that ask for the environment.
        Reads = "reads",
        /// Functions that change it.
        Changes = "changes",
        /// Functions that may change what is in files.
        WritesFiles = "writes_files",
        /// Functions that read files.
        ReadsFiles = "reads_files",
        /// Functions and methods that ask for files, and not for what is in them.
        AsksFiles = "asks_files",
    }
    /// What is known by the same name everywhere.
    "prelude" => Prelude {
        /// Crates of the standard library.
        Crates = "crates",
        /// Types, traits, variants and functions.
        Names = "names",
        /// Macros.
        Macros = "macros",
    }
}

/// The details of one table.
#[derive(Debug, Clone, Default)]
pub struct Details {
    /// By section: what stands there, a bit for each key.
    sections: HashMap<String, NamePatterns>,
}

#[derive(Debug, Clone, Default)]
struct NamePatterns {
    exact: HashMap<String, u128>,
    /// Names with a `*`.
    open: Vec<(String, u128)>,
}

impl Details {
    pub(super) fn is_empty(&self) -> bool {
        self.sections.is_empty()
    }

    /// Says it of a name; `key` is an index in [`keys_of`] this section.
    pub(super) fn say(&mut self, section: &str, key: usize, name: &str) {
        let names = self.sections.entry(section.to_owned()).or_default();
        if name.contains('*') {
            names.open.push((name.to_owned(), 1 << key));
        } else {
            *names.exact.entry(name.to_owned()).or_default() |= 1 << key;
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (section, names) in &other.sections {
            let own = self.sections.entry(section.clone()).or_default();
            for (name, bits) in &names.exact {
                *own.exact.entry(name.clone()).or_default() |= bits;
            }
            own.open.extend(names.open.iter().cloned());
        }
    }

    /// The keys under which a name stands, a bit for each.
    pub(super) fn bits<S: Section>(&self, name: &str) -> u128 {
        let Some(names) = self.sections.get(S::NAME) else {
            return 0;
        };
        let exact = names.exact.get(name).copied().unwrap_or_default();
        let fitting = names.open.iter().filter(|(pattern, _)| fits(name, pattern));
        fitting.fold(exact, |bits, (_, more)| bits | more)
    }
}

/// Whether a name is what a pattern with `*` at one end or both stands for.
fn fits(name: &str, pattern: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), None) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (Some(_), Some(_)) => name.contains(pattern.trim_matches('*')),
        (None, None) => name == pattern,
    }
}
