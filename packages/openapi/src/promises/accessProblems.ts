import { roles } from "@scheduling/domain/members/Role"

type Fields = Readonly<Record<string, unknown>>

/** The kinds of access, each admitting all credentials of the later kinds. */
const kinds: ReadonlyArray<unknown> = ["public", "credential", "scope", "jwt"]

/** Returns the credentials that could use an operation and no longer can. */
export const accessProblems = (at: string, old: Fields, now: Fields): ReadonlyArray<string> => {
  const [before, after] = [kinds.indexOf(old["x-access"]), kinds.indexOf(now["x-access"])]
  const scope = now["x-required-scope"]
  const role = now["x-required-role"]
  return [
    ...(after > before ? [`${at} has the access ${String(now["x-access"])}`] : []),
    ...(after === before && scope !== old["x-required-scope"]
      ? [`${at} needs the scope ${String(scope)}`]
      : []),
    ...(rankOf(role) > rankOf(old["x-required-role"])
      ? [`${at} needs the role ${String(role)}`]
      : [])
  ]
}

/**
 * Returns the rank of a role. Higher ranks have more permissions. Without a role, the rank is
 * lowest.
 */
const rankOf = (role: unknown): number => (roles as ReadonlyArray<unknown>).indexOf(role)
