"""One file a tool: functions named as the questions that it can answer, which import their libraries when asked."""
