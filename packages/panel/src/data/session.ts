import { ApiError, InvalidRefreshTokenError, SchedulingClient } from "@scheduling/sdk"
import { now } from "../ui/values/clock.ts"

/** An access token, and when it should be renewed. It is kept in memory and nowhere else. */
interface Token {
  readonly value: string
  readonly renewAt: number
}

interface Answer {
  readonly access_token: string
  readonly expires_in: number
}

export interface Credentials {
  readonly email: string
  readonly password: string
  readonly totp?: string
}

/** A token is renewed a while before it ends, so that no request meets its end. */
const earlyMs = 60_000

/**
 * Who is signed in. The refresh token is in a cookie that no script can read: the server keeps it,
 * takes it and answers with access tokens. All tabs share one token, and one of them at a time renews
 * it, as a refresh token works once.
 */
class Session {
  readonly #http = new SchedulingClient({ baseUrl: location.origin, tokens: undefined })
  readonly #tabs = new BroadcastChannel("panel-session")
  readonly #onEnd = new Set<() => void>()
  #token: Token | undefined
  #opening: Promise<boolean> | undefined

  constructor() {
    this.#tabs.addEventListener("message", ({ data }: MessageEvent<Token | "ended">) => {
      if (data === "ended") this.#forget()
      else this.#token = data
    })
  }

  /** Whether somebody is signed in. Asks the server at most once at a time. */
  isOpen(): Promise<boolean> {
    if (this.#token !== undefined && this.#token.renewAt > now()) return Promise.resolve(true)
    this.#opening ??= this.#renew(this.#token?.value).finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  /** The token for a request. `refused` is one that the API has just refused. */
  async token(refused?: string): Promise<string | undefined> {
    if (refused !== undefined && this.#token?.value === refused) this.#token = undefined
    const hadToken = refused !== undefined || this.#token !== undefined
    const isOpen = await this.isOpen()
    if (!isOpen && hadToken) this.#end()
    return this.#token?.value
  }

  async signIn(credentials: Credentials): Promise<void> {
    this.#keep(await this.#send("POST", credentials))
  }

  async signOut(): Promise<void> {
    await this.#send("DELETE")
    this.#end()
  }

  /** All other sessions end, and this one becomes a new one. */
  async changePassword(passwords: {
    readonly current_password: string
    readonly new_password: string
  }): Promise<void> {
    this.#keep(await this.#send("PATCH", passwords))
  }

  /** Tells when the session has ended, in this tab or in another. */
  onEnd(listener: () => void): () => void {
    this.#onEnd.add(listener)
    return () => this.#onEnd.delete(listener)
  }

  /** One tab renews; the others wait for it and take what it got. */
  #renew(old: string | undefined): Promise<boolean> {
    return inOneTab(async () => {
      if (this.#token !== undefined && this.#token.value !== old) return true
      try {
        const answer = await this.#send("PUT")
        if (answer === undefined) return false
        this.#keep(answer)
        return true
      } catch (error) {
        if (error instanceof InvalidRefreshTokenError) return false
        // While the service is away nobody knows. The token may still be good.
        if (this.#token !== undefined && !(error instanceof ApiError)) return true
        throw error
      }
    })
  }

  /** A second attempt has to come while the service still takes the token of the first. */
  async #send(method: "POST" | "PUT" | "PATCH" | "DELETE", body?: object) {
    const limits = method === "PUT" ? { timeoutMs: 4_000, maxRetries: 1 } : {}
    return this.#http.request<Answer | undefined>(method, "/panel/session", {
      headers: { "x-panel": "1" },
      ...limits,
      ...(body !== undefined && { body })
    })
  }

  #keep(answer: Answer | undefined): void {
    if (answer === undefined) return
    const lifeMs = answer.expires_in * 1_000
    const renewAt = now() + lifeMs - Math.min(earlyMs, lifeMs / 10)
    this.#token = { value: answer.access_token, renewAt }
    this.#tabs.postMessage(this.#token)
  }

  #end(): void {
    this.#tabs.postMessage("ended")
    this.#forget()
  }

  #forget(): void {
    this.#token = undefined
    for (const listener of this.#onEnd) listener()
  }
}

/** On plain HTTP there are no locks. Then the service forgives two that renew at once. */
const inOneTab = <A>(work: () => Promise<A>): Promise<A> =>
  "locks" in navigator ? navigator.locks.request("panel-session", work) : work()

export const session = new Session()
