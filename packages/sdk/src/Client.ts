import { Caller } from "./Caller.ts"
import { SchedulingError } from "./errors.ts"
import { InvalidRefreshTokenError, InvalidTokenError } from "./generated/errors.ts"
import { Resources } from "./generated/resources.ts"
import type { Login, Registration, WorkspaceId } from "./generated/types.ts"
import { Http } from "./Http.ts"
import { type Credential, type SessionListener, type Settings, visibleAscii } from "./options.ts"
import { type Bearer, fixedBearer, Session } from "./Session.ts"

export type ClientOptions = Settings & Credential

/** The service, as the holder of one credential sees it. */
export class SchedulingClient extends Resources {
  readonly #caller: Caller
  readonly #bearer: Bearer

  constructor(options: ClientOptions = {}) {
    const http = new Http(options)
    const bearer = bearerOf(http, options)
    const caller = new Caller(http, bearer, options.workspaceId)
    super(caller)
    this.#bearer = bearer
    this.#caller = caller
  }

  /** Starts a session. The password is not kept: when the session ends, log in again. */
  static async login(
    options: Login & Settings & SessionListener & { readonly signal?: AbortSignal | undefined }
  ): Promise<SchedulingClient> {
    const { email, onTokens, password, signal, ...settings } = options
    const tokens = await new SchedulingClient(settings).auth.login({ email, password }, { signal })
    await onTokens?.(tokens)
    return new SchedulingClient({ ...settings, tokens, onTokens })
  }

  /** Makes an account and starts a session in its first workspace. */
  static async register(
    options: Registration &
      Settings &
      SessionListener & { readonly signal?: AbortSignal | undefined }
  ): Promise<SchedulingClient> {
    const { email, name, password, signal, ...settings } = options
    const account = { email, password, name }
    const { workspace } = await new SchedulingClient(settings).auth.register(account, { signal })
    return SchedulingClient.login({ ...options, workspaceId: workspace.id })
  }

  /** The same client with its calls in another workspace. */
  withWorkspace(workspaceId: WorkspaceId): Resources {
    return new Resources(this.#caller.within(workspaceId))
  }

  /** The workspace of calls that do not name one. */
  getWorkspaceId(): Promise<WorkspaceId> {
    return this.#caller.workspaceId()
  }

  /** Ends the session on the service and forgets its tokens. */
  async logout(): Promise<void> {
    if (!(this.#bearer instanceof Session)) {
      throw new SchedulingError("There is no session: the client was not given tokens or a login")
    }
    try {
      if (this.#bearer.isOpen) await this.auth.logout()
    } catch (error) {
      const isOver = error instanceof InvalidTokenError || error instanceof InvalidRefreshTokenError
      if (!isOver) throw error
    }
    await this.#bearer.end()
  }
}

const bearerOf = (http: Http, options: Credential): Bearer => {
  if (options.tokens !== undefined) return new Session(http, options)
  if (options.email !== undefined) {
    const { email, onTokens, password } = options
    return new Session(http, { login: { email, password }, onTokens })
  }
  // Named but undefined is a variable that was not set, and every call would be refused.
  return fixedBearer("apiKey" in options ? visibleAscii("apiKey", options.apiKey) : undefined)
}
