import { classes } from "../classes.ts"

export const LegendKey = ({
  className,
  name
}: {
  readonly className: string
  readonly name: string
}) => (
  <span className="flex items-center gap-1.5">
    <span aria-hidden className={classes("size-2.5 rounded-[3px]", className)} />
    {name}
  </span>
)
