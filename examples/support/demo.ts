import { SchedulingClient, ValidationError } from "@scheduling/sdk"
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"

export const baseUrl = process.env["SCHEDULING_URL"] ?? "http://127.0.0.1:4000"

/** Each example has its own account, so it does not touch yours. */
export const demoAccount = () =>
  SchedulingClient.register({
    baseUrl,
    email: `example-${crypto.randomUUID()}@example.com`,
    password: "correct horse battery staple"
  })

export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A server on this machine for the service to call. `answer` decides its answer. */
type Answer = { readonly status: number; readonly body?: unknown }

export const receiver = async (answer: (call: Received) => Answer | Promise<Answer>) => {
  const server = createServer(async (request, response) => {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk)
    const { body = {}, status } = await answer({
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      body: Buffer.concat(chunks).toString()
    })
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

/** Asks until the answer satisfies `isDone`, for at most half a minute. */
export const until = async <A>(
  ask: () => PromiseLike<A>,
  isDone: (answer: A) => boolean
): Promise<A> => {
  const signal = AbortSignal.timeout(30_000)
  for (;;) {
    const answer = await ask()
    if (isDone(answer)) return answer
    signal.throwIfAborted()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

export const hasEnded = ({ status }: { readonly status: string }) =>
  status !== "queued" && status !== "running"

/**
 * In most examples the service calls this machine, which it rejects unless it is told otherwise.
 */
process.once("uncaughtException", (error) => {
  if (error instanceof ValidationError && error.message.includes("EGRESS_ALLOW")) {
    console.log(
      "The service does not call private addresses unless it is allowed to. Start it with"
    )
    console.log("  EGRESS_ALLOW=127.0.0.0/8 npm start")
  } else {
    console.error(error)
  }
  process.exit(1)
})
