import type { Role } from "@scheduling/sdk"
import { createContext, type ReactNode, use } from "react"

const order: ReadonlyArray<Role> = ["viewer", "editor", "admin", "owner"]

/** The reader's role in the workspace of the page. Undefined outside of one, and until it is known. */
export const RoleContext = createContext<Role | undefined>(undefined)

/**
 * Whether the reader may do what asks for a role. As long as nobody knows, it is offered: the API
 * decides in any case.
 */
export const useMay = (): ((needed: Role | undefined) => boolean) => {
  const role = use(RoleContext)
  return (needed) =>
    role === undefined || needed === undefined || order.indexOf(role) >= order.indexOf(needed)
}

/** What is offered to those who have at least this role. */
export const Only = ({
  children,
  instead = null,
  role,
  waits = false
}: {
  readonly role: Role
  readonly children: ReactNode
  /** What the others see. */
  readonly instead?: ReactNode
  /**
   * While the role is unknown, the content is requested. The API refuses it if the role is too low.
   */
  readonly waits?: boolean
}) => {
  const isKnown = use(RoleContext) !== undefined
  return useMay()(role) && (isKnown || !waits) ? children : instead
}

const names = { viewer: "members", editor: "editors", admin: "admins", owner: "owners" }

/** Why something is not offered. */
export const whoMay = (role: Role): string => `Only ${names[role]} of the workspace may do this.`
