{% extends "job.sh" %}
{% set prefix, index = "#BSUB", "$LSB_JOBINDEX" %}
{% macro directives(need) %}
#BSUB -n 1
#BSUB -W {{ need.hours_and_minutes }}
#BSUB -M {{ need.megabytes }}MB
#BSUB -R "rusage[mem={{ need.megabytes }}MB]"
{%- endmacro %}
{% block submit %}
id=$(bsub -J "tcdp-sim[$parts]" -o "$jobs/part-%I.log" < "$jobs/part.sh" | sed -n 's/^Job <\([0-9]*\)>.*/\1/p')
bsub -J tcdp-sim-finish -w "ended($id)" -o "$jobs/finish.log" < "$jobs/finish.sh"
{% endblock %}
