import { oneOf } from "../shared/oneOf.ts"

/** Each may do what those before it may. */
export const roles = ["viewer", "editor", "admin", "owner"] as const

export const Role = oneOf(roles, {
  identifier: "Role",
  description:
    "What a member may do. `viewer`: read. `editor`: also change tasks, monitors and notifications. " +
    "`admin`: also keys, members, secrets and the name. `owner`: also delete the workspace and make owners.",
  examples: ["editor"]
})
export type Role = typeof Role.Type

/** Whether a member with this role may do what asks for that one. */
export const includesRole = (role: Role, needed: Role): boolean =>
  roles.indexOf(role) >= roles.indexOf(needed)
