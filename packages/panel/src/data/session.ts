import { ApiError, InvalidRefreshTokenError, SchedulingClient } from "@scheduling/sdk"
import { observedFetch } from "./responses.ts"
import { deleteDraftsOfOthers } from "../ui/forms/drafts.ts"
import { now } from "../ui/values/clock.ts"

/** An access token and the time to renew it. Kept only in memory. */
interface Token {
  readonly value: string
  readonly renewAt: number
}

interface Answer {
  readonly access_token: string
  readonly expires_in: number
}

/** The response of a server on which nobody has created an account yet. */
interface NoAccounts {
  readonly awaits_first_account: true
}

export type ProviderSignIn = { readonly url: string } | { readonly problem: string }

export interface Credentials {
  readonly email: string
  readonly password: string
  readonly totp?: string
}

type SessionEnd = "signed out" | "expired"

/** How long before a token expires it is renewed. */
const renewBeforeMs = 60_000

/** The SDK client for requests without a session, which do not wait until the user signs in. */
export const publicClient = new SchedulingClient({
  baseUrl: location.origin,
  tokens: undefined,
  fetch: observedFetch
})

/**
 * The signed-in user's session. The refresh token is in an HttpOnly cookie. All tabs share one
 * access token, and only one tab at a time renews it, because a refresh token can be used only
 * once.
 */
class Session {
  readonly #http = publicClient
  readonly #tabs = new BroadcastChannel("panel-session")
  /** True if the server has no accounts yet. */
  awaitsFirstAccount = false
  readonly #onEnd = new Set<(why: SessionEnd) => void>()
  readonly #onOpen = new Set<() => void>()
  #token: Token | undefined
  #account: string | undefined
  /** Pending from the session's expiry until the user has signed in again. Requests wait for it. */
  #expired: PromiseWithResolvers<void> | undefined
  #opening: Promise<boolean> | undefined

  constructor() {
    this.#tabs.addEventListener("message", ({ data }: MessageEvent<Token | SessionEnd>) => {
      if (typeof data === "string") this.#forget(data)
      else this.#take(data)
    })
  }

  /** Returns true if a user is signed in. Concurrent calls share one request. */
  isOpen(): Promise<boolean> {
    if (this.#token !== undefined && this.#token.renewAt > now()) return Promise.resolve(true)
    this.#opening ??= this.#renew(this.#token?.value).finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  /** Returns the token for a request. `rejected` is a token that the API has just rejected. */
  async token(rejected?: string): Promise<string | undefined> {
    if (rejected !== undefined && this.#token?.value === rejected) this.#token = undefined
    const hadToken = rejected !== undefined || this.#token !== undefined
    const isOpen = await this.isOpen()
    if (!isOpen && hadToken) this.#end("expired")
    await this.#expired?.promise
    return this.#token?.value
  }

  async signIn(credentials: Credentials): Promise<void> {
    this.#keep(await this.#send("POST", credentials))
  }

  /** Starts signing in at the identity provider. Returns the URL to open, or the error code. */
  async signInAtProvider(next: string | undefined): Promise<ProviderSignIn> {
    return this.#http.request<ProviderSignIn>("POST", "/panel/oidc", {
      headers: { "x-panel": "1" },
      maxRetries: 0,
      body: { ...(next !== undefined && { next }) }
    })
  }

  /** Signs in with a passkey's response. */
  async signInWithPasskey(response: object): Promise<void> {
    this.#keep(await this.askPanel<Answer>("/panel/passkey", response))
  }

  /** Signs in as the user whom the proxy names. Returns an error code if the sign-in failed. */
  async signInByProxy(): Promise<string | undefined> {
    const answer = await this.askPanel<Answer | { readonly problem: string }>("/panel/proxy")
    if ("problem" in answer) return answer.problem
    this.#keep(answer)
    return undefined
  }

  /** Signs in with the token of a sign-in link that the server's operator has created. */
  async signInWithLink(token: string): Promise<void> {
    this.#keep(await this.askPanel<Answer>("/panel/link", { token }))
  }

  /**
   * Sends a request to one of the panel's own endpoints, which read the session cookie rather than
   * the access token.
   */
  async askPanel<A>(path: string, body: object = {}): Promise<A> {
    return this.#http.request<A>("POST", path, { headers: { "x-panel": "1" }, maxRetries: 0, body })
  }

  async signOut(): Promise<void> {
    await this.#send("DELETE")
    this.#end("signed out")
  }

  /** Changes the password, which ends all other sessions and replaces this one. */
  async changePassword(passwords: {
    readonly current_password: string
    readonly new_password: string
  }): Promise<void> {
    this.#keep(await this.#send("PATCH", passwords))
  }

  /** Calls the listener when the session ends in any tab. */
  onEnd(listener: (why: SessionEnd) => void): () => void {
    this.#onEnd.add(listener)
    return () => this.#onEnd.delete(listener)
  }

  /**
   * Calls the listener when the user has signed in again, in any tab, after the session had
   * expired.
   */
  onOpenAgain(listener: () => void): () => void {
    this.#onOpen.add(listener)
    return () => this.#onOpen.delete(listener)
  }

  /** Renews the token in one tab at a time. The other tabs wait and use its result. */
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
        // The service cannot be reached. The token may still be valid.
        if (this.#token !== undefined && !(error instanceof ApiError)) return true
        throw error
      }
    })
  }

  /**
   * Sends a session request. A renewal has a short timeout, because a retry must arrive while the
   * service still accepts the refresh token of the first attempt.
   */
  async #send(method: "POST" | "PUT" | "PATCH" | "DELETE", body?: object) {
    const limits = method === "PUT" ? { timeoutMs: 4_000, maxRetries: 1 } : {}
    return this.#http.request<Answer | NoAccounts | undefined>(method, "/panel/session", {
      headers: { "x-panel": "1" },
      ...limits,
      ...(body !== undefined && { body })
    })
  }

  #keep(answer: Answer | NoAccounts | undefined): void {
    if (answer === undefined || !("access_token" in answer)) return
    const lifeMs = answer.expires_in * 1_000
    const renewAt = now() + lifeMs - Math.min(renewBeforeMs, lifeMs / 10)
    const token = { value: answer.access_token, renewAt }
    this.#tabs.postMessage(token)
    this.#take(token)
  }

  #take(token: Token): void {
    const expired = this.#expired
    const account = accountOf(token)
    // The user has signed in to another account, which owns neither the page nor its waiting
    // requests.
    if (this.#account !== undefined && account !== this.#account) return location.assign("/")
    deleteDraftsOfOthers(account)
    this.#token = token
    this.#account = account
    if (expired === undefined) return
    this.#expired = undefined
    expired.resolve()
    for (const listener of this.#onOpen) listener()
  }

  #end(why: SessionEnd): void {
    this.#tabs.postMessage(why)
    this.#forget(why)
  }

  #forget(why: SessionEnd): void {
    if (why === "expired" && this.#account !== undefined) {
      this.#expired ??= Promise.withResolvers()
    }
    // Requests that wait for a sign-in still belong to the account.
    if (this.#expired === undefined) this.#account = undefined
    this.#token = undefined
    for (const listener of this.#onEnd) listener(why)
  }
}

/**
 * Runs the work in one tab at a time. Browsers do not provide locks on plain HTTP; there, the
 * service tolerates concurrent renewals.
 */
const inOneTab = <A>(work: () => Promise<A>): Promise<A> =>
  "locks" in navigator ? navigator.locks.request("panel-session", work) : work()

const accountOf = ({ value }: Token): string => {
  const [, payload = ""] = value.split(".")
  const text = atob(payload.replaceAll("-", "+").replaceAll("_", "/"))
  return (JSON.parse(text) as { readonly sub: string }).sub
}

export const session = new Session()
