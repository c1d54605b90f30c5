import { now } from "../transport/clock.ts"
import { SchedulingError } from "../errors.ts"
import { InvalidRefreshTokenError } from "../generated/errors.ts"
import type { TokenPair } from "../generated/shared.ts"
import type { ResponseWithData, Http } from "../transport/Http.ts"
import { refreshLimits, renewalTimeOfNewToken, renewalTimeOfStoredToken } from "./tokenLife.ts"
import { type SessionListener, checkVisibleAscii } from "../options.ts"

/** Provides the credential for requests. */
export interface BearerSource {
  /** Returns the credential to send, if any. */
  readonly current: () => Promise<string | undefined>
  /** Replaces a rejected credential. Returns whether there is a new one. */
  readonly replace: (rejected: string) => Promise<boolean>
  /** Tells the user what to do if there is no credential. Undefined if there is one. */
  readonly problem: string | undefined
  /**
   * Stores the new tokens from the response to a password change, which has revoked the old tokens.
   */
  readonly exchange: (
    answer: Promise<ResponseWithData>,
    newPassword: string
  ) => Promise<ResponseWithData>
}

export const fixedBearer = (credential: string | undefined): BearerSource => ({
  current: () => Promise.resolve(credential),
  replace: () => Promise.resolve(false),
  exchange: (answer) => answer,
  problem:
    credential === undefined
      ? "set SCHEDULING_API_KEY, or pass the client an apiKey, a clientId and a clientSecret, the tokens of a session, or an email and a password"
      : undefined
})

/** Creates a bearer whose tokens the caller manages. */
export const callerManagedBearer = (
  accessToken: (rejected: string | undefined) => Promise<string | undefined>
): BearerSource => ({
  current: () => accessToken(undefined),
  replace: async (rejected) => ((await accessToken(rejected)) ?? rejected) !== rejected,
  exchange: (answer) => answer,
  problem: undefined
})

type Tokens = Pick<TokenPair, "access_token" | "refresh_token">

interface Login {
  readonly email: string
  readonly password: string
}

/** A login's tokens. They are refreshed shortly before they expire, once for all waiting calls. */
export class UserSession implements BearerSource {
  readonly #http: Http
  readonly #onTokens: SessionListener["onTokens"]
  #login: Login | undefined
  #tokens: (Tokens & { readonly renewAt: number }) | undefined
  #renewal: Promise<void> | undefined
  #exchange: Promise<unknown> | undefined

  constructor(
    http: Http,
    start: { readonly tokens?: Tokens | undefined; readonly login?: Login } & SessionListener
  ) {
    this.#http = http
    this.#onTokens = start.onTokens
    this.#login = start.login
    if (start.tokens !== undefined) {
      const { access_token, refresh_token } = start.tokens
      checkVisibleAscii("tokens.access_token", access_token)
      checkVisibleAscii("tokens.refresh_token", refresh_token)
      this.#tokens = {
        access_token,
        refresh_token,
        renewAt: renewalTimeOfStoredToken(access_token)
      }
    }
  }

  async current(): Promise<string | undefined> {
    if (this.#tokens === undefined ? this.#login !== undefined : now() >= this.#tokens.renewAt) {
      await this.#renew()
    }
    return this.#tokens?.access_token
  }

  async replace(rejected: string): Promise<boolean> {
    // Another call may have renewed the tokens during this request.
    if (this.#tokens?.access_token === rejected) await this.#renew()
    return this.#tokens !== undefined
  }

  get problem(): string | undefined {
    const hasEnded = this.#tokens === undefined && this.#login === undefined
    return hasEnded ? "the session has ended; log in again" : undefined
  }

  exchange(answer: Promise<ResponseWithData>, newPassword: string): Promise<ResponseWithData> {
    const exchanged = answer.then(async (given) => {
      if (this.#login !== undefined) this.#login = { ...this.#login, password: newPassword }
      await this.#keep(given.data)
      return given
    })
    // A refresh that the service rejects waits for this promise, because this response may have
    // replaced the refresh token.
    const settled = exchanged
      .catch(() => undefined)
      .finally(() => {
        if (this.#exchange === settled) this.#exchange = undefined
      })
    this.#exchange = settled
    return exchanged
  }

  get isOpen(): boolean {
    return this.#tokens !== undefined
  }

  /** Discards the tokens and the password. */
  async end(): Promise<void> {
    this.#login = undefined
    // Wait for a renewal. Its new tokens would otherwise reopen the session.
    await this.#renewal?.catch(() => undefined)
    await this.#forget()
  }

  async #forget(): Promise<void> {
    if (this.#tokens === undefined) return
    this.#tokens = undefined
    await this.#onTokens?.(undefined)
  }

  #renew(): Promise<void> {
    this.#renewal ??= this.#renewNow().finally(() => {
      this.#renewal = undefined
    })
    return this.#renewal
  }

  async #renewNow(): Promise<void> {
    const refreshToken = this.#tokens?.refresh_token
    if (refreshToken === undefined) return this.#logIn()
    try {
      const body = { refresh_token: refreshToken }
      const repeatable = { ...refreshLimits, isRepeatable: true }
      await this.#take({ verb: "POST", path: "/v1/auth/refresh", body, ...repeatable })
    } catch (error) {
      if (!(error instanceof InvalidRefreshTokenError)) throw error
      await this.#exchange
      if (this.#tokens?.refresh_token !== refreshToken) return
      await this.#forget()
      if (this.#login === undefined) throw error
      await this.#logIn()
    }
  }

  async #logIn(): Promise<void> {
    await this.#take({ verb: "POST", path: "/v1/auth/login", body: this.#login })
  }

  async #take(request: Parameters<Http["send"]>[0]): Promise<void> {
    const before = this.#tokens
    const { data } = await this.#http.send(request)
    // If the tokens were exchanged in the meantime, the exchanged pair is newer.
    if (this.#tokens === before) await this.#keep(data)
  }

  async #keep(data: unknown): Promise<void> {
    if (!isTokenPair(data)) throw new SchedulingError("The service returned no tokens")
    this.#tokens = { ...data, renewAt: renewalTimeOfNewToken(data.expires_in, now()) }
    await this.#onTokens?.(data)
  }
}

const isTokenPair = (data: unknown): data is TokenPair =>
  typeof data === "object" &&
  data !== null &&
  "access_token" in data &&
  "refresh_token" in data &&
  "expires_in" in data
