import { Agent, request as httpRequest } from "node:http"

export interface JsonReply {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- the caller knows the type of the response
  readonly body: any
}

export const password = "correct horse battery staple"

/**
 * A client with its own IP address. This is possible because every address in 127.0.0.0/8 belongs
 * to this machine.
 */
export class TestClient {
  readonly localAddress: string
  readonly url: string
  token = ""
  workspace = ""
  readonly email = `${crypto.randomUUID()}@example.com`
  readonly #agent: Agent

  constructor(url: string, localAddress: string, connections: number) {
    this.url = url
    this.localAddress = localAddress
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: connections,
      localAddress
    })
  }

  ask(
    method: string,
    path: string,
    body?: unknown,
    options: { readonly timeoutMs?: number; readonly token?: string } = {}
  ): Promise<JsonReply> {
    const payload = body === undefined ? undefined : JSON.stringify(body)
    const token = options.token ?? this.token
    return new Promise((resolve, reject) => {
      const request = httpRequest(
        this.url + path,
        {
          agent: this.#agent,
          method,
          timeout: options.timeoutMs ?? 20_000,
          headers: {
            ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
            ...(payload === undefined
              ? {}
              : {
                  "content-type": "application/json",
                  "content-length": Buffer.byteLength(payload)
                })
          }
        },
        (response) => {
          const chunks: Array<Buffer> = []
          response
            .on("data", (chunk: Buffer) => chunks.push(chunk))
            .on("error", reject)
            .on("end", () => {
              const text = Buffer.concat(chunks).toString()
              resolve({
                status: response.statusCode ?? 0,
                body: text === "" ? null : JSON.parse(text)
              })
            })
        }
      )
      request
        .on("timeout", () => request.destroy(new Error("no response in time")))
        .on("error", reject)
        .end(payload)
    })
  }

  /** Creates a record. Fails if the service rejects it. */
  async make(path: string, body: unknown): Promise<JsonReply["body"]> {
    const { body: answer, status } = await this.ask("POST", path, body)
    if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`)
    return answer
  }

  /** Registers an account with its first workspace, and logs in. */
  async join(): Promise<this> {
    const account = { email: this.email, password }
    const { workspace } = await this.make("/v1/auth/register", account)
    this.workspace = `/v1/workspaces/${workspace.id}`
    return this.login()
  }

  async login(): Promise<this> {
    const { access_token } = await this.make("/v1/auth/login", { email: this.email, password })
    this.token = access_token
    return this
  }

  leave(): Promise<JsonReply> {
    return this.ask("DELETE", "/v1/auth/me", { current_password: password }, { timeoutMs: 60_000 })
  }

  close(): void {
    this.#agent.destroy()
  }
}
