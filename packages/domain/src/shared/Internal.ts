import { Context } from "effect"

/**
 * Marks an endpoint that only the control panel needs. The OpenAPI document shows it as
 * `x-internal`, and it may change or disappear in any version.
 */
export class Internal extends Context.Service<Internal, true>()(
  "@scheduling/domain/shared/Internal"
) {}
