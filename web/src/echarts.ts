/** The parts of ECharts that the page uses, and no others. */

import { BarChart, LineChart, ScatterChart } from "echarts/charts";
import {
  DataZoomInsideComponent,
  GridComponent,
  LegendComponent,
  LegendScrollComponent,
  MarkLineComponent,
  TooltipComponent,
} from "echarts/components";
import { init, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";

use([
  BarChart,
  CanvasRenderer,
  DataZoomInsideComponent,
  GridComponent,
  LegendComponent,
  LegendScrollComponent,
  LineChart,
  MarkLineComponent,
  ScatterChart,
  TooltipComponent,
]);

export { init };
