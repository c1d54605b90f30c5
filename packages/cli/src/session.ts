import {
  InvalidRefreshTokenError,
  NotFoundError,
  SchedulingClient,
  type WorkspaceId
} from "@scheduling/sdk"
import { env } from "node:process"
import { CommandError } from "./Command.ts"
import {
  type ContextSettings,
  readConfig,
  type Tokens,
  withConfigLock,
  writeConfig
} from "./configFile.ts"

const variable = (name: string): string | undefined => env[name]?.trim() || undefined

/**
 * Returns the current context. Environment variables override the file, so that CI needs no file.
 */
export const currentContext = (): ContextSettings & { readonly name: string | null } => {
  const { contexts, current } = readConfig()
  const key = variable("SCHEDULING_API_KEY")
  const url = variable("SCHEDULING_URL")
  const workspace_id = variable("SCHEDULING_WORKSPACE_ID")
  const workspace = workspace_id !== undefined && { workspace_id }
  const stored = current === null ? undefined : contexts[current]
  if (key !== undefined) {
    return { name: null, url: url ?? stored?.url ?? defaultUrl, api_key: key, ...workspace }
  }
  if (stored === undefined || (url !== undefined && url !== stored.url)) {
    throw new CommandError(
      "There is no credential. Run `scheduling login`, or set SCHEDULING_API_KEY."
    )
  }
  return { name: current, ...stored, ...workspace }
}

export const defaultUrl = "http://127.0.0.1:4000"

export const makeClient = (settings: { readonly timeoutMs?: number } = {}): SchedulingClient => {
  const { api_key, name, tokens, url, workspace_id } = currentContext()
  const common = {
    ...settings,
    baseUrl: url,
    ...(workspace_id !== undefined && { workspaceId: workspace_id as WorkspaceId })
  }
  if (tokens !== undefined && name !== null) {
    return new SchedulingClient({ ...common, accessToken: accessTokens(name, url) })
  }
  return new SchedulingClient({ ...common, apiKey: api_key })
}

/** Returns undefined if the service responds with 404. */
export const ifFound = <A>(response: Promise<A>): Promise<A | undefined> =>
  response.catch((error: unknown) => {
    if (error instanceof NotFoundError) return undefined
    throw error
  })

/**
 * Creates the function that returns the access token of the session in the file. If `rejected` is
 * the current token, it refreshes the session first. Other processes can refresh the session at the
 * same time.
 */
const accessTokens = (name: string, url: string) => async (rejected: string | undefined) => {
  const known = tokensOf(name)
  if (known === undefined || known.access_token !== rejected) return known?.access_token
  return withConfigLock(async () => {
    const current = tokensOf(name)
    if (current === undefined || current.access_token !== rejected) return current?.access_token
    return (await refresh(name, url, current)).access_token
  })
}

const refresh = async (name: string, url: string, { refresh_token }: Tokens): Promise<Tokens> => {
  try {
    const anonymous = new SchedulingClient({ baseUrl: url, tokens: undefined })
    const { access_token, refresh_token: next } = await anonymous.auth.refresh({ refresh_token })
    const tokens = { access_token, refresh_token: next }
    const config = readConfig()
    const stored = config.contexts[name]
    if (stored !== undefined) {
      writeConfig({ ...config, contexts: { ...config.contexts, [name]: { ...stored, tokens } } })
    }
    return tokens
  } catch (error) {
    if (!(error instanceof InvalidRefreshTokenError)) throw error
    throw new CommandError("The session has ended. Run `scheduling login`.")
  }
}

const tokensOf = (name: string): Tokens | undefined => readConfig().contexts[name]?.tokens
