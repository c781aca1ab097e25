use std::net::UdpSocket;

#[ckpt::main]
fn main() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    std::thread::scope(|s| {
        s.spawn(move || {
            for i in 0..9u8 {
                ckpt::checkpoint!();
                socket.send(&[i]).unwrap();
            }
        });
    });
}
