import { oneOf } from "../shared/oneOf.ts"

/** All roles. Each role includes the roles before it. */
export const roles = ["viewer", "editor", "admin", "owner"] as const

export const Role = oneOf(roles, {
  identifier: "Role",
  description:
    "The permissions of a member. `viewer`: read. `editor`: also change tasks, monitors and notifications. " +
    "`admin`: also manage keys, members, secrets and the workspace's name. `owner`: also delete the workspace and appoint owners.",
  examples: ["editor"]
})
export type Role = typeof Role.Type

export const includesRole = (role: Role, needed: Role): boolean =>
  roles.indexOf(role) >= roles.indexOf(needed)
