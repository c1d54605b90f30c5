import { Data } from "effect"
import type { Socket } from "node:net"

/** Protocols that begin in the clear and ask for TLS. */
export type StartTlsProtocol = "smtp" | "imap" | "pop3" | "postgres"

export class StartTlsRefused extends Data.TaggedError("StartTlsRefused")<{
  readonly message: string
}> {}

/** Asks for TLS in the words of the protocol. After that the handshake can begin on the socket. */
export const startTls = (
  socket: Socket,
  protocol: StartTlsProtocol,
  onReady: () => void,
  onError: (error: Error) => void
): void => {
  const dialog = new Dialog(socket)
  asking[protocol](dialog)
    .then(() => dialog.expectNothing())
    .finally(() => dialog.end())
    .then(onReady, onError)
}

// ---------------------------------------------------------------------------

const asking: Readonly<Record<StartTlsProtocol, (dialog: Dialog) => Promise<void>>> = {
  smtp: async (dialog) => {
    await dialog.expect(smtpReply, /^220/)
    dialog.say("EHLO scheduling-service\r\n")
    await dialog.expect(smtpReply, /^250[ -]STARTTLS\r?$/im)
    dialog.say("STARTTLS\r\n")
    await dialog.expect(smtpReply, /^220/)
  },
  imap: async (dialog) => {
    await dialog.expect(line, /^\* OK/i)
    dialog.say("a1 STARTTLS\r\n")
    await dialog.expect(/^(?:\*[^\n]*\n)*a1 [^\n]*\n/, /^a1 OK/im)
  },
  pop3: async (dialog) => {
    await dialog.expect(line, /^\+OK/)
    dialog.say("STLS\r\n")
    await dialog.expect(line, /^\+OK/)
  },
  postgres: async (dialog) => {
    // SSLRequest: its length, and the code 80877103.
    dialog.say(Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]))
    await dialog.expect(/^[\s\S]/, /^S/)
  }
}

const line = /^[^\n]*\n/
const smtpReply = /^(?:\d{3}-[^\n]*\n)*\d{3}(?: [^\n]*)?\r?\n/

/** More than any greeting. A server must not make us read on for ever. */
const maxBytes = 8 * 1024

/** What the server says, a reply at a time. */
class Dialog {
  private said = ""
  private error: Error | undefined
  private wake: () => void = () => {}
  private readonly socket: Socket

  constructor(socket: Socket) {
    this.socket = socket
    socket.on("data", this.hear).on("error", this.fail).on("close", this.close)
  }

  say(text: string | Buffer): void {
    this.socket.write(text)
  }

  /** Waits for a whole reply, which has to be one that agrees. */
  async expect(reply: RegExp, agrees: RegExp): Promise<void> {
    for (;;) {
      const [whole] = reply.exec(this.said) ?? []
      if (whole !== undefined) {
        this.said = this.said.slice(whole.length)
        if (agrees.test(whole)) return
        throw new StartTlsRefused({ message: "the server does not offer STARTTLS" })
      }
      if (this.said.length > maxBytes) {
        throw new StartTlsRefused({ message: "the server's greeting is too long" })
      }
      if (this.error !== undefined) throw this.error
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
  }

  expectNothing(): void {
    if (this.said === "") return
    throw new StartTlsRefused({ message: "the server went on talking before the handshake" })
  }

  end(): void {
    this.socket.off("data", this.hear).off("error", this.fail).off("close", this.close)
  }

  private readonly hear = (chunk: Buffer): void => {
    this.said += chunk.toString("latin1")
    this.wake()
  }

  private readonly fail = (error: Error): void => {
    this.error = error
    this.wake()
  }

  private readonly close = (): void => {
    this.error ??= new StartTlsRefused({ message: "the server closed the connection" })
    this.wake()
  }
}
