import { Context } from "effect"

/**
 * Marks an endpoint that only the control panel uses. The OpenAPI document marks the endpoint as
 * `x-internal`; it may change or disappear in any version.
 */
export class Internal extends Context.Service<Internal, true>()(
  "@scheduling/domain/shared/Internal"
) {}
