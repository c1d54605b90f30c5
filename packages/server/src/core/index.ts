/**
 * The foundation of all modules: configuration, ids, secrets, loops, logs, metrics and traces. It
 * knows nothing about scheduling.
 */
import { Layer } from "effect"
import { LoopFailures, LoopHealth } from "./Loop.ts"
import { Ids } from "./Ids.ts"
import { Meters, NodeMeters } from "./Meters.ts"
import { MetricsExportLayer, TracingLayer } from "./collector/Otlp.ts"

export { Ids } from "./Ids.ts"
export { LoggingLayer } from "./Logging.ts"
export {
  loop,
  LoopHealth,
  reportFailures,
  stuckRestartOptions,
  runAllInSequence,
  shortMessage,
  Waker
} from "./Loop.ts"
export {
  type Histogram,
  longSecondsBounds,
  Meters,
  type NodeMeters,
  secondsBounds
} from "./Meters.ts"
export {
  type AppSecretUnreadable,
  type DerivedKey,
  type KeyRing,
  isSameSecret,
  isSameText,
  mac,
  type KeyPurpose,
  seal,
  sealExpiringValue,
  Secrets,
  unseal,
  unsealIfKnown,
  unsealExpiringValue
} from "./Secrets.ts"
export {
  makeSpanId,
  makeTraceId,
  readTraceparent,
  spanIdOf,
  traceIdOf,
  traceparentOf,
  type Tracer,
  Tracing
} from "./Tracing.ts"
export { bearerKeys, bearerKeyHashes, hashBearerKey, shownPrefixOf } from "./bearerKeys.ts"
export {
  retryOnConflict,
  checkVersion,
  matchesDefinition,
  failIfKeyTaken,
  withExistingId,
  upsertByKey,
  type UpsertResult
} from "./byKey.ts"
export { AppConfig, InvalidConfig, exportsMetrics, settingNames } from "./config/Config.ts"
export type { OidcSettings, RoleOfClaim } from "./config/oidc.ts"
export { isLoopback } from "./config/hostNames.ts"
export { maxUnfinishedRunsPerTask, type PlanCatalog, plansByPrice } from "./config/plans.ts"
export { withSecretFiles } from "./config/secretFiles.ts"
export { unknownSettings } from "./config/unknownSettings.ts"
export { elapsedMs } from "./elapsedMs.ts"
export { sortByDependencies } from "./sortByDependencies.ts"
export { runInSlices } from "./runInSlices.ts"
export { hashLinkToken, linkTokenHashes, makeLinkToken } from "./linkTokens.ts"
export { makeFolder } from "./makeFolder.ts"
export { dayMs, hourMs } from "./milliseconds.ts"
export { orNotFound } from "./orNotFound.ts"
export {
  fieldsCopier,
  isMalformedJson,
  keepNewObjectsYoung,
  objectMaker,
  rejectFurtherUpgradeListeners,
  withText
} from "./libraryInternals.ts"
export {
  truncate,
  truncateBytes,
  escapeHtml,
  escapeMarkdown,
  toOneLine,
  escapeMarkdownAndMentions
} from "./text.ts"
export { version } from "./version.ts"
export { onlyOnRunnerNodes } from "./onlyOnRunnerNodes.ts"

/**
 * Provides the loop health, the metrics and the tracer of one node. A process may have several
 * nodes.
 */
export const NodeLayer = TracingLayer.pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      Layer.sync(LoopHealth, () => new LoopFailures()),
      Layer.sync(Meters, () => new NodeMeters())
    )
  )
)

export const CoreLayer = Layer.mergeAll(Ids.layer, MetricsExportLayer).pipe(
  Layer.provideMerge(NodeLayer)
)
