import { roles } from "@scheduling/domain/members/Role"

type Fields = Readonly<Record<string, unknown>>

/**
 * The kinds of access, from open to strict. Each kind admits all credentials that the later kinds
 * admit.
 */
const kinds: ReadonlyArray<unknown> = ["public", "credential", "any_scope", "scope", "jwt"]

/** Returns the changes that prevent some credentials from using an operation. */
export const accessProblems = (at: string, old: Fields, now: Fields): ReadonlyArray<string> => {
  const [before, after] = [kinds.indexOf(old["x-access"]), kinds.indexOf(now["x-access"])]
  const scopes = scopesOf(now)
  const isTighter = after === before && scopesOf(old).some((scope) => !scopes.includes(scope))
  const role = now["x-required-role"]
  return [
    ...(after > before ? [`${at} has the access ${String(now["x-access"])}`] : []),
    ...(isTighter ? [`${at} needs the scope ${scopes.join(" or ")}`] : []),
    ...(rankOf(role) > rankOf(old["x-required-role"])
      ? [`${at} needs the role ${String(role)}`]
      : [])
  ]
}

const scopesOf = (operation: Fields): ReadonlyArray<unknown> => {
  const scopes = operation["x-required-scopes"]
  return Array.isArray(scopes) ? scopes : [operation["x-required-scope"] ?? []].flat()
}

/**
 * Returns the rank of a role. Higher ranks have more permissions. Without a role, the rank is
 * lowest.
 */
const rankOf = (role: unknown): number => (roles as ReadonlyArray<unknown>).indexOf(role)
