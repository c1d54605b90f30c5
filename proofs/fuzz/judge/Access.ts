import { type Exchange, targetOf } from "../exchange/Exchange.ts"
import type { World } from "../world/World.ts"

/** Finds requests that succeeded although the client has no access. */
export const judgeAccess = (exchange: Exchange, world: World): ReadonlyArray<string> => {
  const { answer, request } = exchange
  const target = targetOf(exchange)
  if (answer.status >= 400 || target === undefined || target.access.kind === "public") return []
  const credential = world.credentialOf(tokenOf(request.headers) ?? "")
  if (credential === undefined) return ["accepted without a known credential"]
  const { access, segments } = target
  const workspace = request.target.split(/[/?]/)[segments.indexOf(":workspace_id") + 1]
  const isElsewhere = (own: string) =>
    segments.includes(":workspace_id") && own !== workspace?.toLowerCase()
  if (credential.key === undefined) {
    const owner = world.ownerOf(workspace?.toLowerCase() ?? "")
    return owner === undefined ||
      owner === credential.account ||
      !segments.includes(":workspace_id")
      ? []
      : ["accepted in someone else's workspace"]
  }
  return [
    ...(access.kind === "jwt" ? ["accepted with an API key, but requires a session"] : []),
    ...(access.kind === "scope" && !credential.key.scopes.includes(access.scope)
      ? [`accepted without ${access.scope}`]
      : []),
    ...(isElsewhere(credential.key.workspace)
      ? ["accepted with an API key of another workspace"]
      : [])
  ]
}

/** Returns the token if exactly one header has exactly one token. */
const tokenOf = (headers: Exchange["request"]["headers"]): string | undefined => {
  const [value, ...more] = headers.flatMap(([name, one]) => (name === "authorization" ? [one] : []))
  return more.length > 0 ? undefined : /^bearer ([^ ]+)$/i.exec(value ?? "")?.[1]
}
