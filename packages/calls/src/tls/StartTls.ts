import { Data } from "effect"
import type { Socket } from "node:net"

/** Protocols that begin unencrypted and switch to TLS on request. */
export type StartTlsProtocol = "smtp" | "imap" | "pop3" | "postgres"

export class StartTlsFailed extends Data.TaggedError("StartTlsFailed")<{
  readonly message: string
}> {}

/** Requests TLS as the protocol defines it. After that the handshake can begin on the socket. */
export const startTls = (
  socket: Socket,
  protocol: StartTlsProtocol,
  onReady: () => void,
  onError: (error: Error) => void
): void => {
  const dialog = new Dialog(socket)
  requests[protocol](dialog)
    .then(() => dialog.expectNothing())
    .finally(() => dialog.end())
    .then(onReady, onError)
}

const requests: Readonly<Record<StartTlsProtocol, (dialog: Dialog) => Promise<void>>> = {
  smtp: async (dialog) => {
    await dialog.expect(smtpReply, /^220/)
    dialog.send("EHLO scheduling-service\r\n")
    await dialog.expect(smtpReply, /^250[ -]STARTTLS\r?$/im)
    dialog.send("STARTTLS\r\n")
    await dialog.expect(smtpReply, /^220/)
  },
  imap: async (dialog) => {
    await dialog.expect(line, /^\* OK/i)
    dialog.send("a1 STARTTLS\r\n")
    await dialog.expect(/^(?:\*[^\n]*\n)*a1 [^\n]*\n/, /^a1 OK/im)
  },
  pop3: async (dialog) => {
    await dialog.expect(line, /^\+OK/)
    dialog.send("STLS\r\n")
    await dialog.expect(line, /^\+OK/)
  },
  postgres: async (dialog) => {
    // SSLRequest: the message length and the code 80877103.
    dialog.send(Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]))
    await dialog.expect(/^[\s\S]/, /^S/)
  }
}

const line = /^[^\n]*\n/
const smtpReply = /^(?:\d{3}-[^\n]*\n)*\d{3}(?: [^\n]*)?\r?\n/

/**
 * The maximum size of a reply. It is larger than any greeting, and prevents a server from sending
 * an endless reply.
 */
const maxBytes = 8 * 1024

/** Reads the server's replies one at a time. */
class Dialog {
  private received = ""
  private error: Error | undefined
  private wake: () => void = () => {}
  private readonly socket: Socket

  constructor(socket: Socket) {
    this.socket = socket
    socket.on("data", this.receive).on("error", this.fail).on("close", this.close)
  }

  send(text: string | Buffer): void {
    this.socket.write(text)
  }

  /** Waits for a complete reply, and fails unless it matches `accepted`. */
  async expect(reply: RegExp, accepted: RegExp): Promise<void> {
    for (;;) {
      const [whole] = reply.exec(this.received) ?? []
      if (whole !== undefined) {
        this.received = this.received.slice(whole.length)
        if (accepted.test(whole)) return
        throw new StartTlsFailed({ message: "the server does not offer STARTTLS" })
      }
      if (this.received.length > maxBytes) {
        throw new StartTlsFailed({ message: "the server's greeting is too long" })
      }
      if (this.error !== undefined) throw this.error
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
  }

  expectNothing(): void {
    if (this.received === "") return
    throw new StartTlsFailed({ message: "the server sent data before the handshake" })
  }

  end(): void {
    this.socket.off("data", this.receive).off("error", this.fail).off("close", this.close)
  }

  private readonly receive = (chunk: Buffer): void => {
    this.received += chunk.toString("latin1")
    this.wake()
  }

  private readonly fail = (error: Error): void => {
    this.error = error
    this.wake()
  }

  private readonly close = (): void => {
    this.error ??= new StartTlsFailed({ message: "the server closed the connection" })
    this.wake()
  }
}
