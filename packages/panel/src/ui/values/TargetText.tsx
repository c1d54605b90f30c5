import { Fragment } from "react"

/**
 * The URL or server that is called or checked. A long one is broken before a path or a parameter
 * rather than inside a host or port.
 */
export const TargetText = ({ target }: { readonly target: string }) => (
  <span className="block font-mono text-sm text-ink">
    {target.split(/(?<!\/)(?=[/?&](?!\/))/).map((part, index) => (
      <Fragment key={index}>
        {index > 0 && <wbr />}
        {part}
      </Fragment>
    ))}
  </span>
)
