/** Status pages: their definitions, and the content that the public sees. */
import { Layer } from "effect"
import { PublicPages } from "./PublicPages.ts"
import { PublicPagesRepo } from "./PublicPagesRepo.ts"
import { publicRoutesLayer } from "./publicRoutes.ts"
import { StatusPages } from "./StatusPages.ts"
import { StatusPagesHandlers } from "./http.ts"
import { StatusPagesRepo } from "./StatusPagesRepo.ts"

export const StatusPagesLayer = Layer.mergeAll(
  StatusPagesHandlers.pipe(Layer.provide(StatusPages.layer), Layer.provide(StatusPagesRepo.layer)),
  publicRoutesLayer.pipe(Layer.provide(PublicPages.layer), Layer.provide(PublicPagesRepo.layer))
)
