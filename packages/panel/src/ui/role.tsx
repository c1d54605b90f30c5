import type { Role } from "@scheduling/sdk"
import { createContext, type ReactNode, use } from "react"

const order: ReadonlyArray<Role> = ["viewer", "editor", "admin", "owner"]

/** The current user's role in the workspace. Undefined outside a workspace and while it is loading. */
export const RoleContext = createContext<Role | undefined>(undefined)

/**
 * Returns a function that checks whether the user has a role. Returns true while the role is
 * loading, because the API checks it anyway.
 */
export const useHasRole = (): ((needed: Role | undefined) => boolean) => {
  const role = use(RoleContext)
  return (needed) =>
    role === undefined || needed === undefined || order.indexOf(role) >= order.indexOf(needed)
}

export const RoleGate = ({
  children,
  instead = null,
  role,
  waits = false
}: {
  readonly role: Role
  readonly children: ReactNode
  readonly instead?: ReactNode
  /** True for content that makes requests. It is rendered only once the role is known. */
  readonly waits?: boolean
}) => {
  const isKnown = use(RoleContext) !== undefined
  return useHasRole()(role) && (isKnown || !waits) ? children : instead
}

export const roleNeededMessage = (role: Role): string =>
  `You need the role ${role}${role === "owner" ? "" : " or a higher role"} to do this.`
