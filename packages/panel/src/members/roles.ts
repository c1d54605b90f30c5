import type { Role } from "@scheduling/sdk"

export const roleDescriptions: ReadonlyArray<readonly [role: Role, name: string]> = [
  ["viewer", "Viewer: can read tasks, executions, monitors and notifications"],
  ["editor", "Editor: can also edit tasks, queues, monitors and notifications"],
  ["admin", "Admin: can also manage keys, workers, members, secrets and the workspace's name"],
  ["owner", "Owner: can also delete the workspace and appoint owners"]
]

export const roleNames: ReadonlyArray<readonly [role: Role, name: string]> = [
  ["viewer", "Viewer"],
  ["editor", "Editor"],
  ["admin", "Admin"],
  ["owner", "Owner"]
]
