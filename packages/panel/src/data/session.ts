import { ApiError, InvalidRefreshTokenError, SchedulingClient } from "@scheduling/sdk"
import { noticed } from "./answers.ts"
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

/** For somebody who is not signed in, on a server on which nobody has an account. */
interface Fresh {
  readonly awaits_first_account: true
}

export interface Credentials {
  readonly email: string
  readonly password: string
  readonly totp?: string
}

/** Why a session is over: somebody signed out, or the service does not take it any more. */
type Ending = "signed out" | "expired"

/** A token is renewed a while before it ends, so that no request meets its end. */
const earlyMs = 60_000

/**
 * Who is signed in. The refresh token is in a cookie that no script can read: the server keeps it,
 * takes it and answers with access tokens. All tabs share one token, and one of them at a time renews
 * it, as a refresh token works once.
 */
class Session {
  readonly #http = new SchedulingClient({
    baseUrl: location.origin,
    tokens: undefined,
    fetch: noticed
  })
  readonly #tabs = new BroadcastChannel("panel-session")
  /** True if the server has said that it has no account yet. */
  awaitsFirstAccount = false
  readonly #onEnd = new Set<(why: Ending) => void>()
  readonly #onOpen = new Set<() => void>()
  #token: Token | undefined
  /** The account of the latest token. */
  #account: string | undefined
  /** Requests wait for it while the reader signs in again. */
  #expired: PromiseWithResolvers<void> | undefined
  #opening: Promise<boolean> | undefined

  constructor() {
    this.#tabs.addEventListener("message", ({ data }: MessageEvent<Token | Ending>) => {
      if (typeof data === "string") this.#forget(data)
      else this.#take(data)
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
    if (!isOpen && hadToken) this.#end("expired")
    await this.#expired?.promise
    return this.#token?.value
  }

  async signIn(credentials: Credentials): Promise<void> {
    this.#keep(await this.#send("POST", credentials))
  }

  async signOut(): Promise<void> {
    await this.#send("DELETE")
    this.#end("signed out")
  }

  /** All other sessions end, and this one becomes a new one. */
  async changePassword(passwords: {
    readonly current_password: string
    readonly new_password: string
  }): Promise<void> {
    this.#keep(await this.#send("PATCH", passwords))
  }

  /** Reports the end of the session, in this tab or in another. */
  onEnd(listener: (why: Ending) => void): () => void {
    this.#onEnd.add(listener)
    return () => this.#onEnd.delete(listener)
  }

  /**
   * Reports that somebody whose session had expired is signed in again, in this tab or in
   * another.
   */
  onOpenAgain(listener: () => void): () => void {
    this.#onOpen.add(listener)
    return () => this.#onOpen.delete(listener)
  }

  /** One tab renews; the others wait for it and take what it got. */
  #renew(old: string | undefined): Promise<boolean> {
    return inOneTab(async () => {
      if (this.#token !== undefined && this.#token.value !== old) return true
      try {
        const answer = await this.#send("PUT")
        this.awaitsFirstAccount = answer !== undefined && "awaits_first_account" in answer
        this.#keep(answer)
        return answer !== undefined && "access_token" in answer
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
    return this.#http.request<Answer | Fresh | undefined>(method, "/panel/session", {
      headers: { "x-panel": "1" },
      ...limits,
      ...(body !== undefined && { body })
    })
  }

  #keep(answer: Answer | Fresh | undefined): void {
    if (answer === undefined || !("access_token" in answer)) return
    const lifeMs = answer.expires_in * 1_000
    const renewAt = now() + lifeMs - Math.min(earlyMs, lifeMs / 10)
    const token = { value: answer.access_token, renewAt }
    this.#tabs.postMessage(token)
    this.#take(token)
  }

  #take(token: Token): void {
    const expired = this.#expired
    const account = accountOf(token)
    // The page is somebody else's, and so is what waits.
    if (expired !== undefined && account !== this.#account) return location.assign("/")
    this.#token = token
    this.#account = account
    if (expired === undefined) return
    this.#expired = undefined
    expired.resolve()
    for (const listener of this.#onOpen) listener()
  }

  #end(why: Ending): void {
    this.#tabs.postMessage(why)
    this.#forget(why)
  }

  #forget(why: Ending): void {
    if (why === "expired" && this.#account !== undefined) {
      this.#expired ??= Promise.withResolvers()
    }
    this.#token = undefined
    for (const listener of this.#onEnd) listener(why)
  }
}

/** On plain HTTP there are no locks. Then the service forgives two that renew at once. */
const inOneTab = <A>(work: () => Promise<A>): Promise<A> =>
  "locks" in navigator ? navigator.locks.request("panel-session", work) : work()

/** The account that an access token is for: the subject of the JWT. */
const accountOf = ({ value }: Token): string => {
  const [, payload = ""] = value.split(".")
  const text = atob(payload.replaceAll("-", "+").replaceAll("_", "/"))
  return (JSON.parse(text) as { readonly sub: string }).sub
}

export const session = new Session()
