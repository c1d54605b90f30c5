import type { Role } from "@scheduling/sdk"
import { createContext, type ReactNode, use } from "react"

const order: ReadonlyArray<Role> = ["viewer", "editor", "admin", "owner"]

/** The role of the reader in the workspace. Undefined outside of a workspace and until it is known. */
export const RoleContext = createContext<Role | undefined>(undefined)

/**
 * Returns a function that says if the reader has a role. While the role is unknown it says yes,
 * because the API decides in any case.
 */
export const useMay = (): ((needed: Role | undefined) => boolean) => {
  const role = use(RoleContext)
  return (needed) =>
    role === undefined || needed === undefined || order.indexOf(role) >= order.indexOf(needed)
}

export const Only = ({
  children,
  instead = null,
  role,
  waits = false
}: {
  readonly role: Role
  readonly children: ReactNode
  readonly instead?: ReactNode
  /** True for content that makes requests. It then waits until the role is known. */
  readonly waits?: boolean
}) => {
  const isKnown = use(RoleContext) !== undefined
  return useMay()(role) && (isKnown || !waits) ? children : instead
}

export const roleNeeded = (role: Role): string =>
  `You need the role ${role}${role === "owner" ? "" : " or a higher role"} to do this.`
