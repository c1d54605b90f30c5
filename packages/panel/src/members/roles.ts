import type { Role } from "@scheduling/sdk"

export const roles: ReadonlyArray<readonly [role: Role, name: string]> = [
  ["viewer", "Viewer: reads"],
  ["editor", "Editor: also edits tasks, queues, monitors and notifications"],
  ["admin", "Admin: also keys, workers, members, secrets and the name"],
  ["owner", "Owner: also deletes the workspace and makes owners"]
]

export const roleNames: ReadonlyArray<readonly [role: Role, name: string]> = [
  ["viewer", "Viewer"],
  ["editor", "Editor"],
  ["admin", "Admin"],
  ["owner", "Owner"]
]
