/**
 * Secrets of workspaces: their names, values and allowed hosts. Calls and channels decrypt them
 * (`engine/secrets`).
 */
import { Layer } from "effect"
import { SecretsHandlers } from "./http.ts"
import { SecretsRepo } from "./SecretsRepo.ts"
import { WorkspaceSecrets } from "./WorkspaceSecrets.ts"

export const SecretsLayer = SecretsHandlers.pipe(
  Layer.provide(WorkspaceSecrets.layer),
  Layer.provide(SecretsRepo.layer)
)
