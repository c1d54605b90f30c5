import { Effect } from "effect"
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import { SMTPServer } from "smtp-server"

export interface Received {
  readonly at: number
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- the assertions check the body
  readonly body: any
}

export interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** True if the server never responds. */
  readonly hangs?: boolean
  /** The server waits for this promise before it responds. */
  readonly after?: Promise<void>
}

/** Starts an HTTP server that records its requests and responds with `answer`. */
export const startHttpReceiver = (answer: (request: Received) => Reply = () => ({})) =>
  Effect.acquireRelease(
    Effect.callback<{
      readonly url: string
      readonly received: Array<Received>
      readonly close: () => void
    }>((resume) => {
      const received: Array<Received> = []
      const server = createServer(async (incoming, response) => {
        const text = Buffer.concat(await incoming.toArray()).toString()
        const isJson = incoming.headers["content-type"]?.startsWith("application/json") === true
        const request: Received = {
          at: Date.now(),
          method: incoming.method ?? "",
          url: incoming.url ?? "",
          headers: incoming.headers,
          text,
          body: isJson && text !== "" ? JSON.parse(text) : undefined
        }
        received.push(request)
        const { after, body = "", hangs = false, headers = {}, status = 200 } = answer(request)
        if (hangs) return
        await after
        const isText = typeof body === "string"
        response.writeHead(status, {
          "content-type": isText ? "text/plain" : "application/json",
          ...headers
        })
        response.end(isText ? body : JSON.stringify(body))
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        resume(
          Effect.succeed({
            url: `http://127.0.0.1:${port}`,
            received,
            close: () => {
              server.close()
              server.closeAllConnections()
            }
          })
        )
      })
    }),
    (receiver) => Effect.sync(receiver.close)
  )

export interface ReceivedMail {
  readonly at: number
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly secure: boolean
  readonly user: string | undefined
  /** The complete message as received, including its headers. */
  readonly source: string
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
  readonly html: string
}

/** Starts a real mail server. `refuse` makes it reject a recipient or a message with a code. */
export const startSmtpReceiver = (
  options: {
    readonly password?: string
    readonly refuseReceiver?: (address: string) => { code: number; message: string } | undefined
    readonly refuseMessage?: () => { code: number; message: string } | undefined
  } = {}
) =>
  Effect.acquireRelease(
    Effect.callback<{
      readonly port: number
      readonly mails: Array<ReceivedMail>
      readonly close: () => void
    }>((resume) => {
      const mails: Array<ReceivedMail> = []
      const server = new SMTPServer({
        logger: false,
        authOptional: options.password === undefined,
        onAuth: (auth, _session, callback) =>
          auth.password === options.password
            ? callback(null, { user: auth.username })
            : callback(failure({ code: 535, message: "5.7.8 wrong password" })),
        onRcptTo: ({ address }, _session, callback) => {
          const refusal = options.refuseReceiver?.(address)
          callback(refusal === undefined ? null : failure(refusal))
        },
        onData: async (stream, session, callback) => {
          // If the sender is killed, the rest of the message does not arrive.
          const chunks = await stream.toArray().catch(() => undefined)
          if (chunks === undefined) return callback()
          const source = Buffer.concat(chunks).toString()
          const refusal = options.refuseMessage?.()
          if (refusal !== undefined) return callback(failure(refusal))
          const from = session.envelope.mailFrom
          mails.push({
            at: Date.now(),
            from: from === false ? "" : from.address,
            to: session.envelope.rcptTo.map(({ address }) => address),
            secure: session.secure,
            user: typeof session.user === "string" ? session.user : undefined,
            source,
            headers: headersOf(source),
            text: partOf(source, "text/plain"),
            html: partOf(source, "text/html")
          })
          callback()
        }
      })
      server.on("error", () => {})
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.server.address() as AddressInfo
        resume(Effect.succeed({ port, mails, close: () => server.close() }))
      })
    }),
    (receiver) => Effect.sync(receiver.close)
  )

const failure = ({ code, message }: { readonly code: number; readonly message: string }) =>
  Object.assign(new Error(message), { responseCode: code })

const headersOf = (source: string): ReadonlyMap<string, string> => {
  const [head = ""] = source.split("\r\n\r\n")
  return new Map(
    head
      .replaceAll(/\r\n[ \t]+/g, " ")
      .split("\r\n")
      .map((line) => {
        const colon = line.indexOf(":")
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
      })
  )
}

/** Decodes the body part with this content type. */
const partOf = (source: string, type: string): string => {
  const start = source.search(new RegExp(`^content-type: ${type}`, "im"))
  if (start === -1) return ""
  const part = source.slice(start)
  const head = part.slice(0, part.indexOf("\r\n\r\n"))
  const [body = ""] = part.slice(head.length + 4).split(/\r\n--[^\r\n]+/)
  const encoding = /content-transfer-encoding: (\S+)/i.exec(head)?.[1]?.toLowerCase()
  if (encoding === "base64") return Buffer.from(body, "base64").toString()
  if (encoding !== "quoted-printable") return body
  const bytes = body
    .replaceAll("=\r\n", "")
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16))
    )
  return Buffer.from(bytes, "latin1").toString()
}
