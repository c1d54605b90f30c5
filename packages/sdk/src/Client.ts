import { ApiPromise } from "./ApiPromise.ts"
import { Caller } from "./transport/Caller.ts"
import { environmentVariable } from "./transport/environment.ts"
import { SchedulingError } from "./errors.ts"
import { InvalidRefreshTokenError, InvalidTokenError } from "./generated/errors.ts"
import { Resources } from "./generated/resources.ts"
import type { Login, Registration } from "./generated/auth.ts"
import type { WorkspaceId } from "./generated/shared.ts"
import { Http } from "./transport/Http.ts"
import {
  type Credential,
  type Method,
  type RawRequest,
  type SessionListener,
  type Settings,
  checkVisibleAscii
} from "./options.ts"
import { ServiceAccountTokens } from "./session/ServiceAccountTokens.ts"
import {
  type BearerSource,
  callerManagedBearer,
  fixedBearer,
  UserSession
} from "./session/UserSession.ts"

export type ClientOptions = Settings & Credential

/**
 * The settings that can differ between clients with the same credential. `baseUrl` belongs to the
 * credential.
 */
export type OtherSettings = Omit<Settings, "baseUrl">

/**
 * A client for one credential.
 *
 * @example
 * const client = new SchedulingClient() // the key in SCHEDULING_API_KEY, the server in SCHEDULING_URL
 * const task = await client.cron.create({
 *   name: "Nightly report",
 *   url: "https://api.example.com/jobs/nightly",
 *   schedule: "0 3 * * *"
 * })
 */
export class SchedulingClient extends Resources {
  readonly #settings: Settings
  readonly #caller: Caller
  readonly #bearer: BearerSource

  /** @param origin Internal: the client whose credential this client shares. */
  constructor(options: ClientOptions = {}, origin?: SchedulingClient) {
    const http = new Http(options)
    const bearer = origin === undefined ? bearerOf(http, options) : origin.#bearer
    const workspaceId = options.workspaceId ?? environmentVariable("SCHEDULING_WORKSPACE_ID")
    const caller =
      origin !== undefined && options.workspaceId === undefined
        ? origin.#caller.by(http)
        : new Caller(http, bearer, workspaceId)
    super(caller)
    this.#settings = settingsOf(options)
    this.#bearer = bearer
    this.#caller = caller
  }

  /** Starts a session. The password is not stored: when the session ends, log in again. */
  static async login(
    options: Login & Settings & SessionListener & { readonly signal?: AbortSignal | undefined }
  ): Promise<SchedulingClient> {
    const { email, onTokens, password, signal, ...settings } = options
    const tokens = await anonymous(settings).auth.login({ email, password }, { signal })
    await onTokens?.(tokens)
    return new SchedulingClient({ ...settings, tokens, onTokens })
  }

  /** Creates an account and starts a session in the account's first workspace. */
  static async register(
    options: Registration &
      Settings &
      SessionListener & { readonly signal?: AbortSignal | undefined }
  ): Promise<SchedulingClient> {
    const { email, name, password, signal, ...settings } = options
    const account = { email, password, name }
    const { workspace } = await anonymous(settings).auth.register(account, { signal })
    return SchedulingClient.login({ ...options, workspaceId: workspace.id })
  }

  /**
   * Returns another client with the same credential. The given settings replace those of this client.
   *
   * @example
   * const patient = client.withOptions({ timeoutMs: 120_000, maxRetries: 5 })
   */
  withOptions(settings: OtherSettings): SchedulingClient {
    const own = Object.entries(settings).filter(([, value]) => value !== undefined)
    const defaultHeaders = { ...this.#settings.defaultHeaders, ...settings.defaultHeaders }
    const merged = { ...this.#settings, ...Object.fromEntries(own), defaultHeaders }
    return new SchedulingClient(merged, this)
  }

  /** Returns the same client for another workspace. */
  withWorkspace(workspaceId: WorkspaceId): SchedulingClient {
    return this.withOptions({ workspaceId })
  }

  /** Returns the workspace for calls that do not specify one. */
  getWorkspaceId(): Promise<WorkspaceId> {
    return this.#caller.workspaceId()
  }

  /**
   * Makes a call that the client has no method for, such as a call to an endpoint of a newer
   * service or of your own proxy. Uses the client's credential, retries and errors.
   * `{workspace_id}` in the path is replaced by the client's workspace. A POST is retried only with
   * an `idempotencyKey`.
   *
   * @example const { data } = await client.request<{ data: Array<{ name: string }> }>( "GET",
   * "/v1/workspaces/{workspace_id}/cron", { query: { limit: 5 } } )
   */
  request<A = unknown>(method: Method, path: string, request: RawRequest = {}): ApiPromise<A> {
    const { body, query, ...options } = request
    const call = { route: `${method} ${checkPath(path)}`, query, body, options, isRaw: true }
    return new ApiPromise(this.#caller.send(call), (data) => data as A)
  }

  /** Ends the session on the service and discards its tokens. */
  async logout(): Promise<void> {
    if (!(this.#bearer instanceof UserSession)) {
      throw new SchedulingError(
        "There is no session: the client was created without tokens or a login"
      )
    }
    try {
      if (this.#bearer.isOpen) await this.auth.logout()
    } catch (error) {
      const hasEnded =
        error instanceof InvalidTokenError || error instanceof InvalidRefreshTokenError
      if (!hasEnded) throw error
    }
    await this.#bearer.end()
  }
}

/** Copies the settings without the credential, because only the session may keep the password. */
const settingsOf = (options: Settings): Settings => {
  const { baseUrl, defaultHeaders, fetch, maxRetries, timeoutMs, workspaceId } = options
  const { logger, onRequest, onResponse } = options
  const client = { baseUrl, defaultHeaders, fetch, maxRetries, timeoutMs, workspaceId }
  return { ...client, logger, onRequest, onResponse }
}

/** Creates a client for calls before a session starts. It ignores a key in the environment. */
const anonymous = (settings: Settings) => new SchedulingClient({ ...settings, tokens: undefined })

const bearerOf = (http: Http, options: Credential): BearerSource => {
  if (options.tokens !== undefined) return new UserSession(http, options)
  if (options.accessToken !== undefined) return callerManagedBearer(options.accessToken)
  if (options.clientId !== undefined) return new ServiceAccountTokens(http, options)
  if (options.email !== undefined) {
    const { email, onTokens, password } = options
    return new UserSession(http, { login: { email, password }, onTokens })
  }
  // An `apiKey` that is undefined usually comes from an unset environment variable. Without a key
  // the service would reject every call, so the constructor throws now.
  if ("apiKey" in options) return fixedBearer(checkVisibleAscii("apiKey", options.apiKey))
  // A user without tokens must not use the API key in the environment, which belongs to the server
  // that makes the calls.
  const isNamed = ["tokens", "email", "accessToken", "clientId"].some((name) => name in options)
  const key = isNamed ? undefined : environmentVariable("SCHEDULING_API_KEY")
  return fixedBearer(key === undefined ? undefined : checkVisibleAscii("SCHEDULING_API_KEY", key))
}

/**
 * The path is appended to the base URL. `@elsewhere` would turn the base URL into a user name and
 * password and send the credential to another host.
 */
const checkPath = (path: string): string => {
  if (/^\/[^?#]*$/.test(path)) return path
  throw new SchedulingError(
    "path must start with a slash and have no query; pass the query as `query`"
  )
}
