import { now } from "../transport/clock.ts"
import { SchedulingError } from "../errors.ts"
import type { Http } from "../transport/Http.ts"
import { type ServiceAccountCredential, checkVisibleAscii } from "../options.ts"
import { renewalTimeOfNewToken } from "./tokenLife.ts"
import type { BearerSource } from "./UserSession.ts"

/**
 * A service account's access tokens. The first call requests a token. Later calls renew it shortly
 * before it expires or when it is rejected, once for all waiting calls.
 */
export class ServiceAccountTokens implements BearerSource {
  readonly problem = undefined
  readonly #http: Http
  readonly #form: Readonly<Record<string, string>>
  #token: { readonly access_token: string; readonly renewAt: number } | undefined
  #renewal: Promise<void> | undefined

  constructor(http: Http, { clientId, clientSecret }: ServiceAccountCredential) {
    this.#http = http
    this.#form = {
      grant_type: "client_credentials",
      client_id: checkVisibleAscii("clientId", clientId),
      client_secret: checkVisibleAscii("clientSecret", clientSecret)
    }
  }

  async current(): Promise<string | undefined> {
    if (this.#token === undefined || now() >= this.#token.renewAt) await this.#renew()
    return this.#token?.access_token
  }

  async replace(rejected: string): Promise<boolean> {
    // Another call may have renewed the token during this request.
    if (this.#token?.access_token === rejected) await this.#renew()
    return true
  }

  exchange<A>(answer: Promise<A>): Promise<A> {
    return answer
  }

  #renew(): Promise<void> {
    this.#renewal ??= this.#renewNow().finally(() => {
      this.#renewal = undefined
    })
    return this.#renewal
  }

  async #renewNow(): Promise<void> {
    const { data } = await this.#http.send({
      verb: "POST",
      path: "/v1/auth/token",
      form: this.#form,
      isRepeatable: true
    })
    if (!isToken(data)) throw new SchedulingError("The service returned no token")
    const { access_token, expires_in } = data
    this.#token = { access_token, renewAt: renewalTimeOfNewToken(expires_in, now()) }
  }
}

const isToken = (
  data: unknown
): data is { readonly access_token: string; readonly expires_in: number } =>
  typeof data === "object" &&
  data !== null &&
  "access_token" in data &&
  typeof data.access_token === "string" &&
  "expires_in" in data &&
  typeof data.expires_in === "number"
