//! Prints the expansion of the functions of a file: `cargo run -p ckpt-compiler --example expand -- FILE [CALL ..]`.

fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().expect("the file to expand");
    let calls: Vec<String> = arguments.collect();
    let source = std::fs::read_to_string(&file).expect("the file can be read");
    let file = syn::parse_file(&source).expect("the file is Rust");
    for item in file.items {
        let syn::Item::Fn(mut function) = item else {
            continue;
        };
        let mut options = String::new();
        function.attrs.retain(|attribute| {
            let is_ours = attribute
                .path()
                .segments
                .first()
                .is_some_and(|first| first.ident == "ckpt");
            if let (true, syn::Meta::List(list)) = (is_ours, &attribute.meta) {
                options = list.tokens.to_string();
            }
            !is_ours
        });
        if !calls.is_empty() {
            options = format!("calls({})", calls.join(","));
        }
        let options: proc_macro2::TokenStream = options.parse().expect("the calls are paths");
        let tokens = ckpt_compiler::instrument(options, quote::quote!(#function), &Default::default());
        match syn::parse2::<syn::File>(tokens.clone()) {
            Ok(file) => println!("{}", prettyplease::unparse(&file)),
            Err(_) => println!("{tokens}"),
        }
    }
}
