# A server of tlslite-ng: PORT CERTIFICATE KEY OLDEST NEWEST CIPHERS (versions as minor numbers).
import socket, sys, threading
from tlslite.api import HandshakeSettings, TLSConnection, X509CertChain, parsePEMKey

port, certificate, key, oldest, newest, ciphers = sys.argv[1:]
chain = X509CertChain()
chain.parsePemList(open(certificate).read())
private = parsePEMKey(open(key).read(), private=True)
settings = HandshakeSettings()
settings.minVersion, settings.maxVersion = (3, int(oldest)), (3, int(newest))
settings.versions = [v for v in settings.versions if (3, int(oldest)) <= v <= (3, int(newest))]
settings.cipherNames = ciphers.split(",")
settings.macNames = ["sha", "sha256", "sha384", "aead", "md5"]


def serve(connection):
    connection.settimeout(10)
    try:
        tls = TLSConnection(connection)
        tls.handshakeServer(certChain=chain, privateKey=private, settings=settings)
        tls.read(1, 4096)
        tls.write(b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<p>open</p>")
        tls.close()
    except Exception:
        pass
    finally:
        connection.close()


listener = socket.create_server(("127.0.0.1", int(port)), backlog=64)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
